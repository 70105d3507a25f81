"""Compare a Python float that an answer returned with what was wanted."""

import contextlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from grader.checks.failure import Mismatch
from grader.diagnose.causes import cause_of_number, cause_of_plain
from grader.diagnose.describe import describe
from grader.diagnose.facts import apart


def expect_number(
    yours: object,
    wanted: float,
    call: str,
    *,
    rtol: float = 1e-6,
    atol: float = 0.0,
    suspects: Mapping[str, Callable[[], Any]] | None = None,
) -> None:
    """Fail unless `yours`, which `call` gave, is a float and `wanted` up to rtol·|wanted| or `atol`.

    For `suspects` see `expect_close`; here they make numbers, or what is no number where one is wanted.

    Example:
        def test_mean(answer):
            expect_number(answer.mean([1.0, 2.0]), 1.5, "mean([1.0, 2.0])", suspects={"the sum": lambda: 3.0})
    """
    if type(yours) is not float:
        why = suspected(suspects, lambda made: _is(yours, made)) or cause_of_plain(yours, wanted)
        raise Mismatch(f"wrong type from {call}", yours=describe(yours), wanted="a Python float", likely=why)
    if near(yours, wanted, rtol, atol):
        return
    mine, right = apart(yours, wanted)
    told = suspected(suspects, lambda made: near(yours, made, max(rtol, 1e-6), 0.0))
    raise Mismatch(
        f"wrong {call}", yours=mine, wanted=right, likely=told or cause_of_number(yours, wanted) or ""
    )


def suspected(suspects: Mapping[str, Callable[[], Any]] | None, fits: Callable[[Any], bool]) -> str:
    """The first mistake that makes what fits, or ""; some raise, as the answer might have."""
    for told, make in (suspects or {}).items():
        with contextlib.suppress(Exception):
            if fits(make()):
                return told
    return ""


def _is(yours: object, made: object) -> bool:
    """Whether a mistake has made this, which is no float."""
    if isinstance(yours, torch.Tensor):
        return isinstance(made, torch.Tensor) and torch.equal(yours, made)
    return bool(yours == made)


def near(one: float, other: float, rtol: float, atol: float) -> bool:
    return math.isclose(one, other, rel_tol=rtol, abs_tol=atol) or (one != one and other != other)
