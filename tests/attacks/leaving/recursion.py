"""Recursion without end.
deserves = ["failed"]
says = "RecursionError"
"""
def merge_heads(x):
    return merge_heads(x)
