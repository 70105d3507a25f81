"""An oracle's result with keys that have one hash, for which a dict takes the square of their number.
deserves = ["tampered", "failed"]
"""
import sys
frame = sys._getframe()
while frame:
    tell = frame.f_locals.get("tell") or getattr(frame.f_locals.get("self"), "_tell", None)
    if callable(tell):
        for name in ("oracle", "fine_oracle"):
            tell(**{name: ["d", [[k * (2**61 - 1), 0] for k in range(20000)]]})
        break
    frame = frame.f_back
