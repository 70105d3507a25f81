"""Has as many descriptors under way as one user may have, for as long as it can.
deserves = ["failed", "timeout"]
"""
import os, socket, time
one, other = socket.socketpair()
try:
    while True:
        socket.send_fds(one, [b"x"], [os.open(os.devnull, os.O_RDONLY)] + [1] * 252)
except OSError:
    time.sleep(4)
