"""A type's name with markup.
deserves = ["failed"]
"""
C = type('[bold]<b>', (), {})
def merge_heads(x):
    return C()
