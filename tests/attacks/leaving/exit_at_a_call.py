"""Exit at a call.
deserves = ["failed"]
"""
def merge_heads(x):
    raise SystemExit(0)
