"""Opens as many pipes as it can, in as many processes, for as long as it can.
deserves = ["failed", "timeout", "crashed"]
"""
import os, time
for _ in range(50):
    if os.fork() == 0:
        break
held = []
try:
    while True:
        held.append(os.pipe())
except OSError:
    time.sleep(4)
if os.getpid() != 1:
    os._exit(0)
