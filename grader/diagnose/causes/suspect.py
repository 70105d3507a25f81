"""A mistake that the check knows by name: what came back is what that mistake makes."""

from dataclasses import replace

from torch import Tensor

from grader.diagnose.causes.evidence import Evidence, resolution, to_double
from grader.diagnose.describe import readable

ENOUGH = 5.0
"""Bits of agreement: the check's author expects this mistake, which takes less than a guess from numbers."""


def suspected(case: Evidence) -> str | None:
    """The first suspect whose tensor is yours, where that one can be told from what is wanted."""
    for told, make in case.suspects.items():
        try:
            made = readable(make())
        except Exception:  # it works on inputs that the answer may have changed
            continue
        if made is None or made.shape != case.yours.shape:
            continue
        (guess,) = to_double(made)
        if guess.shape == case.wanted.shape and case.same(case.wanted, guess):
            continue
        if _is_made(case, guess):
            return told
    return None


def _is_made(case: Evidence, guess: Tensor) -> bool:
    """Of numbers that might be anything, few are enough, and of 0, 1, True and the like, many."""
    near = replace(case, rtol=max(case.rtol, 16 * resolution(case.yours_dtype, case.wanted_dtype)))
    if not near.same(guess):
        return False
    if case.yours_dtype.is_floating_point and not bool(((guess == 0) | (guess.abs() == 1)).all()):
        return True
    return min(map(case.bits, (guess, case.yours))) * guess.numel() >= ENOUGH
