"""Junk written to every descriptor.
deserves = ["tampered"]
says = "channel"
"""
import os
for fd in range(3, 256):
    try:
        os.write(fd, b'\x00{]\n')
    except OSError:
        pass
