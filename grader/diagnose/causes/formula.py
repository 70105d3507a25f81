"""A step too many or too few: logs, exponentials, softmax, rounding."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import SAMPLE, Evidence, Pattern, at, grain, sample

Formula = tuple[Callable[[Tensor], Tensor], str]

FORMULAS: tuple[Formula, ...] = (
    (torch.log, "this is the log of the wanted values: a log too many, or a missing exp"),
    (torch.exp, "this is exp of the wanted values: an exp too many, or a missing log"),
    (torch.square, "this is the square of the wanted values: a missing square root?"),
    (torch.sqrt, "this is the square root of the wanted values: one too many?"),
    (torch.reciprocal, "this is 1 / the wanted values"),
    (torch.conj_physical, "this is the complex conjugate of the wanted values"),
)
FEWEST = 4
"""Numbers that a formula has to change before it is told as the cause."""

REAL_FORMULAS: tuple[Formula, ...] = (
    (torch.abs, "right sizes, but no sign: an abs or a square too many?"),
    (lambda t: 1 - t, "this is 1 - the wanted values"),
    (torch.sigmoid, "this is the sigmoid of the wanted values: applied twice?"),
    (torch.logit, "the sigmoid is missing: yours.sigmoid() is wanted"),
    (torch.relu, "right, but negative values are cut to 0"),
    (torch.trunc, "right, but rounded towards zero: an integer dtype on the way?"),
    (torch.floor, "right, but rounded down: an integer dtype or // on the way?"),
    (torch.round, "right, but rounded to whole numbers: an integer dtype on the way?"),
)


def one_value(case: Evidence) -> str | None:
    """Yours is one number everywhere, where wanted is not."""
    value = case.yours.flatten()[0]
    if not bool((case.yours == value).all()) or not case.informative(case.wanted):
        return None
    # Few and small whole numbers, or bools, may well be all the same without a reason.
    enough = 64 if case.yours_dtype == torch.bool else 8 if case.yours_dtype.is_floating_point else 12
    if case.yours.numel() < enough:
        return None
    if case.yours_dtype == torch.bool:
        return Pattern(f"every value is {bool(value)}")
    return (
        "all zeros: never filled in, or multiplied by 0?"
        if value == 0
        else Pattern(f"every value is {value.item():.6g}")
    )


def rounded(case: Evidence) -> str | None:
    """Yours holds only numbers of a narrower dtype, and is right up to the rounding of that dtype."""
    if case.is_complex or not case.wanted_dtype.is_floating_point:
        return None
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        eps = torch.finfo(dtype).eps
        if eps <= torch.finfo(case.wanted_dtype).eps:
            continue
        few = at(case.yours, sample(case.yours.numel(), SAMPLE))
        narrow = bool((few == few.to(dtype)).all()) and bool((case.yours == case.yours.to(dtype)).all())
        if not narrow or not _is_told_apart(case, dtype):
            continue
        largest = case.wanted.abs().nan_to_num(0, 0, 0).max()
        if replace(case, rtol=4 * eps, atol=4 * eps * float(largest)).agree(case.wanted):
            name = str(dtype).removeprefix("torch.")
            return f"right up to the rounding of {name}: computed in {name}, then cast?"
    return None


def _is_told_apart(case: Evidence, dtype: torch.dtype) -> bool:
    """Whether rounding shows in enough numbers: of float32 in float64, 29 bits of 0 in one are no chance."""
    differ = case.wanted != case.wanted.to(dtype)
    if dtype == torch.float32:
        return bool((differ & (case.yours != case.yours.to(torch.bfloat16))).any())
    return int(differ.sum()) >= max(3, case.wanted.numel() // 2)


def nearly_float32(case: Evidence) -> str | None:
    """Yours is off by as much as float32 rounds, with no pattern that a formula would leave."""
    if case.is_complex or case.yours_dtype != torch.float64 or case.wanted_dtype != torch.float64:
        return None
    off, eps = case.yours - case.wanted, torch.finfo(torch.float32).eps
    worst, size = float(off.abs().max()), float(case.wanted.abs().max())
    if not size * eps / 32 <= worst <= 2 * size * eps:
        return None
    wrong = ~case.close(case.yours, case.wanted)
    found = off[wrong]
    ups = int((found > 0).sum()), int((found * case.wanted[wrong] > 0).sum())
    if found.numel() < 8 or not all(found.numel() / 5 <= n <= found.numel() * 4 / 5 for n in ups):
        return None
    return "errors of the size of float32's rounding: is float32 used on the way, or another eps?"


def formula(case: Evidence) -> str | None:
    """One function of each element turns wanted into yours."""
    choices = FORMULAS if case.is_complex else (*FORMULAS, *REAL_FORMULAS)
    for function, told in choices:
        if case.maps(function, case.wanted, case.yours, tried=len(choices)):
            # an abs or a relu leaves most numbers alone, which then prove nothing
            changed = int((~case.close(function(case.wanted), case.wanted)).sum())
            return told if changed >= min(FEWEST, case.wanted.numel()) else None
    return None


def softmaxed(case: Evidence) -> str | None:
    """Softmax, or log-softmax, over the wrong dim, applied twice, or not applied."""
    if case.is_complex or not case.wanted_dtype.is_floating_point:
        return None
    for function, inverse in ((torch.softmax, torch.Tensor.clone), (torch.log_softmax, torch.exp)):
        over = _sums_to_one(inverse(case.wanted))
        if not over or not case.informative(case.wanted):
            continue
        name, d = function.__name__, over[0]
        if case.agree(function(case.yours, d), case.wanted):
            return f"{name} over {case.name(d)} is missing"
        if case.agree(function(case.wanted, d)):
            return f"{name} over {case.name(d)} is applied twice"
        wrong = _sums_to_one(inverse(case.yours))
        several = case.wanted.ndim > 1 and min(case.wanted.shape) > 1  # one sum near 1 may be chance
        if wrong and several and not set(wrong) & set(over) and case.informative(case.yours):
            return f"{name} over the wrong dim: sums to 1 over {case.name(wrong[0])}, not {case.name(d)}"
    return None


def _sums_to_one(values: Tensor) -> list[int]:
    """The dims over which these are weights that sum to 1; none for counts and one-hot rows."""
    if bool((values < 0).any()):
        return []
    long = [d for d, n in enumerate(values.shape) if n > 1]
    found = [d for d in long if bool(((values.sum(d) - 1).abs() <= 1e-4).all())]
    return [] if found and grain(values.flatten()) else found
