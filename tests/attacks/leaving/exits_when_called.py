"""Os._exit at the first call.
deserves = ["crashed"]
says = "left before"
"""
import os
def merge_heads(x):
    os._exit(0)
