"""SIGSTOP to itself.
deserves = ["failed", "timeout"]
"""
import os, signal
def merge_heads(x):
    os.kill(os.getpid(), signal.SIGSTOP)
    return x
