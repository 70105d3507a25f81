"""Gigabytes of output by descriptor.
deserves = ["tampered", "crashed", "timeout"]
"""
import os
for _ in range(2000):
    for fd in range(1, 64):
        try:
            os.write(fd, bytes(1_000_000))
        except OSError:
            pass
