"""NaN and inf where numbers are wanted, and what they come from."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import Evidence

ENOUGH = 8
"""Elements that have to be NaN, or inf, all of them, before that says something by itself."""


def nonfinite(case: Evidence) -> str | None:
    """Told only where NaN or inf is the whole of the mistake, or all there is in yours."""
    if case.is_complex or not case.yours_dtype.is_floating_point:
        return None
    if bool(torch.isfinite(case.yours).all()):
        return None
    wrong = ~case.close(case.yours, case.wanted)
    nan, inf = wrong & case.yours.isnan(), wrong & case.yours.isinf()
    everywhere = bool(nan.all() or inf.all()) and nan.numel() >= ENOUGH
    alone = torch.equal(wrong, nan | inf) and (everywhere or case.informative(case.wanted[~wrong]))
    if bool(nan.any()):
        if told := _exp_overflow(case, wrong) or (_carried(case) if alone else None):
            return told
        if alone and not everywhere and not bool(inf.any()):
            return next((told for where, told in _nan_sources(case) if torch.equal(where, nan)), None)
        return None
    return _inf(case, inf, alone, everywhere) if bool(inf.any()) else None


def _carried(case: Evidence) -> str | None:
    for name, value in case.inputs.items():
        if bool(value.isnan().any()):
            return f"NaN comes in with {name} and spreads: mask it before it is used, not after"
    return None


def _exp_overflow(case: Evidence, wrong: Tensor) -> str | None:
    """inf / inf is NaN, and anything else / inf is 0: what exp of a large input leaves behind."""
    if not bool((case.yours.isnan() | (case.yours == 0))[wrong].all()):
        return None
    limit = math.log(torch.finfo(case.yours_dtype).max)
    for name, value in case.inputs.items():
        largest = float(value[torch.isfinite(value)].max()) if bool(torch.isfinite(value).any()) else 0.0
        if largest > limit:
            return (
                f"exp overflows: {name} reaches {largest:.3g}, the limit is {limit:.0f}; subtract the maximum"
            )
    return None


def _nan_sources(case: Evidence) -> Iterator[tuple[Tensor, str]]:
    for name, value in case.inputs.items():
        if value.shape == case.wanted.shape:
            yield value < 0, f"NaN exactly where {name} is negative: log or sqrt of it?"
            yield value == 0, f"NaN exactly where {name} is 0: 0 / 0 or 0 · log(0)?"
            yield value.isinf(), f"NaN exactly where {name} is infinite: inf - inf, inf / inf or 0 · inf?"
    yield case.wanted == 0, "NaN exactly where 0 is wanted: 0 / 0, 0 · inf, or softmax of a row of -inf?"
    yield case.wanted.isinf(), "NaN exactly where inf is wanted: inf - inf or inf / inf?"


def _inf(case: Evidence, inf: Tensor, alone: bool, everywhere: bool) -> str | None:
    if not bool(torch.isfinite(case.wanted[inf]).all()):
        return None
    half = torch.finfo(torch.float16)
    too_large = case.wanted.abs() > half.max
    if case.wanted_dtype != torch.float16 and bool(too_large.any()) and torch.equal(too_large, inf):
        rough = replace(case, rtol=8 * half.eps, atol=8 * half.eps)
        if everywhere or (bool((~inf).any()) and rough.agree(case.wanted[~inf], case.yours[~inf])):
            return "overflow: inf exactly where the values pass 65504, the largest number of float16"
    if not alone:
        return None
    for name, value in case.inputs.items():
        if value.shape == case.wanted.shape and torch.equal(value == 0, inf):
            return f"inf exactly where {name} is 0: a division by zero, or log(0)?"
    name = str(case.yours_dtype).removeprefix("torch.")
    return f"overflow or a division by 0: the wanted values fit in {name}, a step on the way does not"
