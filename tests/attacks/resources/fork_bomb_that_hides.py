"""A fork bomb of processes that /proc shows to root alone.
deserves = ["timeout", "crashed"]
"""
import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
for _ in range(1000):
    try:
        if os.fork() == 0:
            time.sleep(1000)
    except OSError:
        pass
time.sleep(1000)
