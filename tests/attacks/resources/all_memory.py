"""All memory.
deserves = ["failed", "memory"]
"""
def merge_heads(x):
    return bytearray(1 << 40)
