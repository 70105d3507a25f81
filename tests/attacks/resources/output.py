"""Gigabytes of output.
deserves = ["failed", "timeout"]
"""
def merge_heads(x):
    for _ in range(2000): print('x' * 1_000_000)
    return x
