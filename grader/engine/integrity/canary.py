"""Checks that must fail and comparisons that must hold, tried after the answer had its turn.

The guard sees names that stand for something else. This sees what it cannot, such as a function mode that
was left on and agrees with everything.
"""

from collections.abc import Callable

import torch

from grader.checks.failure import CheckFailure
from grader.checks.values import expect_equal, expect_that


def broken() -> str | None:
    """What judges wrongly now, or None."""
    try:
        return _lying() or _lenient()
    except Exception as error:
        return f"breaks comparisons ({type(error).__name__})"


def _lying() -> str | None:
    zeros, same, ones = (
        torch.full((2,), value, device="cpu", dtype=torch.float32) for value in (0.0, 0.0, 1.0)
    )
    if torch.equal(zeros, ones) or not torch.equal(zeros, same):
        return "makes torch.equal lie"
    if bool((zeros == ones).any()) or not bool((zeros == same).all()):
        return "makes == of tensors lie"
    if bool(torch.isclose(zeros, ones).any()) or not bool(torch.isclose(zeros, same).all()):
        return "makes torch.isclose lie"
    return None


def _lenient() -> str | None:
    if not _fails(lambda: expect_that(False, "a canary")):
        return "makes a check pass that must fail"
    if not _fails(lambda: expect_equal(1, 2, "a canary")):
        return "makes a comparison pass that must fail"
    return None


def _fails(check: Callable[[], None]) -> bool:
    try:
        check()
    except CheckFailure:
        return True
    return False
