"""Fills the disk.
deserves = ["broken"]
says = "OSError"
"""
with open('/tmp/big', 'wb') as f:
    while True: f.write(bytes(1 << 24))
