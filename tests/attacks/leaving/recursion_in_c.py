"""Recursion in C.
deserves = ["failed", "crashed", "memory", "timeout"]
"""
def merge_heads(x):
    import sys
    sys.setrecursionlimit(10**9)
    return merge_heads(x)
