"""A mistake that the check knows by name: what came back is what that mistake makes."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import Evidence, resolution, to_double
from grader.diagnose.describe import readable

ENOUGH = 5.0
"""Bits of agreement: the check's author expects this mistake, which takes less than a guess from numbers."""

FEW = 3
"""Below that many numbers the tolerance of the check is none for a cause."""


def suspected(case: Evidence) -> str | None:
    """The first suspect whose tensor is yours, where that one can be told from what is wanted."""
    return next(all_suspected(case), None)


def all_suspected(case: Evidence) -> Iterator[str]:
    """All of those."""
    for told, made in _made(case):
        (guess,) = to_double(made)
        if guess.shape == case.wanted.shape and case.same(case.wanted, guess):
            continue
        has_its_dtype = made.dtype == case.yours_dtype != case.wanted_dtype
        if _is_made(case, guess, has_its_dtype):
            yield told


def suspected_of_dtype(case: Evidence) -> str | None:
    """The first suspect whose tensor is yours, the dtype with it, where only that one is wrong."""
    for told, made in _made(case):
        if made.dtype == case.yours_dtype != case.wanted_dtype and case.same(*to_double(made)):
            return told
    return None


def _made(case: Evidence) -> Iterator[tuple[str, Tensor]]:
    """What each of the suspects makes, where it has the shape of yours."""
    for told, make in case.suspects.items():
        try:
            made = readable(make())
        except Exception:  # it works on inputs that the answer may have changed
            continue
        if made is not None and made.shape == case.yours.shape:
            yield told, made


def _is_made(case: Evidence, guess: Tensor, has_its_dtype: bool) -> bool:
    """Of numbers that might be anything, few are enough, and of 0, 1, True and the like, many.

    None of them where the shape or the dtype is wrong, in the way in which this mistake makes it wrong.
    """
    if not guess.numel():
        return bool(case.wanted.numel())
    eps = resolution(case.yours_dtype, case.wanted_dtype)
    near = replace(case, rtol=max(case.rtol, 16 * eps), atol=max(case.atol, 4 * eps * _size(case.wanted)))
    if not near.same(guess):
        return False
    if has_its_dtype or (case.yours.numel() > 1 and case.yours.shape != case.wanted.shape):
        return True
    if case.yours_dtype.is_floating_point and not bool(((guess == 0) | (guess.abs() == 1)).all()):
        return True
    return min(map(case.bits, (guess, case.yours))) * guess.numel() >= min(ENOUGH, case.needed)


def _size(wanted: Tensor) -> float:
    """The size of one or two numbers, among which a small one has lost the digits that cancelled."""
    finite = wanted[torch.isfinite(wanted)] if wanted.numel() < FEW else wanted[:0]
    return float(finite.abs().max()) if finite.numel() else 0.0
