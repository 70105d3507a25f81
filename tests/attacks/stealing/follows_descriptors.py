"""Follows a descriptor of the worker's.
deserves = ["broken"]
says = "found nothing"
"""
import os
found = []
for fd in range(3, 64):
    try:
        found.append(os.readlink(f'/proc/self/fd/{fd}'))
    except OSError:
        pass
raise RuntimeError(f'found {[f for f in found if not f.startswith(("socket:", "/proc"))] or "nothing"}')
