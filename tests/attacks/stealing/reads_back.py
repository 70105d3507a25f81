"""Reads back what has been told about it.
deserves = ["broken"]
says = "found nothing"
"""
import os
found = []
for fd in range(3, 64):
    try:
        found.append(os.open(f'/proc/self/fd/{fd}', os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        pass
raise RuntimeError(f'found {found or "nothing"}')
