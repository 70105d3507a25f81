"""SIGKILL to itself.
deserves = ["failed", "crashed"]
"""
import os, signal
def merge_heads(x):
    os.kill(os.getpid(), signal.SIGKILL)
    return x
