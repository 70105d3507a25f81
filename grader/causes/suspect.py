"""A mistake that the check knows by name: what came back is what that mistake makes."""

from grader.causes.evidence import Case, to_double
from grader.describe import plain

ENOUGH = 5.0
"""Bits of agreement: the check's author expects this mistake, which takes less than a guess from numbers."""


def suspected(case: Case) -> str | None:
    """The first suspect whose tensor is yours, where that one can be told from what is wanted."""
    for told, make in case.suspects.items():
        try:
            made = plain(make())
        except Exception:  # it works on inputs that the answer may have changed
            continue
        if made is None or made.shape != case.yours.shape:
            continue
        (guess,) = to_double(made)
        if guess.shape == case.wanted.shape and case.same(case.wanted, guess):
            continue
        if case.same(guess) and min(map(case.bits, (guess, case.yours))) * guess.numel() >= ENOUGH:
            return told
    return None
