"""A message of a gigabyte.
deserves = ["failed", "memory", "timeout"]
"""
def merge_heads(x):
    raise ValueError('x' * (1 << 28))
