"""An atexit hook that reports passes.
deserves = ["failed"]
"""
import atexit, os
atexit.register(lambda: os.write(1, b'passed'))
