"""Kills everyone that it may.
deserves = ["failed", "crashed"]
"""
import os, signal
try: os.kill(-1, signal.SIGKILL)
except OSError: pass
