"""A repr that never ends.
deserves = ["failed", "timeout"]
"""
class R:
    def __repr__(self):
        while True: pass
def merge_heads(x):
    return R()
