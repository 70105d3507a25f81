"""All memory at import.
deserves = ["memory", "broken", "crashed", "timeout"]
"""
x = []
while True: x.append(bytearray(1 << 26))
