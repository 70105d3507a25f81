"""A step along one dim: left out, done once too often, or done along another dim."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import Evidence

Reduction = Callable[[Tensor, int], Tensor]

REDUCTIONS: tuple[tuple[str, Reduction], ...] = (
    ("mean", torch.mean),
    ("sum", torch.sum),
    ("maximum", torch.amax),
    ("minimum", torch.amin),
)
PICKED = ("maximum", "minimum")
"""Those that are one of the numbers."""

FEWEST = 3

DIVISORS: tuple[tuple[str, Reduction], ...] = (
    ("sum", lambda t, d: t.sum(d, keepdim=True)),
    ("norm", lambda t, d: torch.linalg.vector_norm(t, dim=d, keepdim=True)),
    ("root mean square", lambda t, d: t.square().mean(d, keepdim=True).sqrt()),
    ("standard deviation", lambda t, d: t.std(d, keepdim=True)),
    ("standard deviation (correction=0)", lambda t, d: t.std(d, keepdim=True, correction=0)),
)
SUBTRACTED: tuple[tuple[str, Reduction], ...] = (
    ("mean", lambda t, d: t.mean(d, keepdim=True)),
    ("maximum", lambda t, d: t.amax(d, keepdim=True)),
)


class Step(NamedTuple):
    """A mistake along a dim: what it makes, and what that would be, of which so many numbers are fitted."""

    told: str
    make: Callable[[], Tensor]
    goal: Tensor
    fitted: int


def along(case: Evidence) -> str | None:
    """What such a step makes of wanted, or wanted of yours."""
    if case.is_complex or case.yours.is_complex():
        return None
    steps = list(_steps(case))
    agrees = (s.told for s in steps if case.agree(s.make(), s.goal, tried=len(steps), fitted=s.fitted))
    return next(agrees, None)


def _steps(case: Evidence) -> Iterator[Step]:
    yours, wanted = case.yours, case.wanted
    zeros = int((wanted == 0).sum())
    for d, size in enumerate(wanted.shape):
        if size < 2:
            continue
        name, slices = case.name(d), wanted.numel() // size
        summed = partial(torch.cumsum, dim=d)
        told = f"this is the running sum of the wanted values along {name}"
        yield Step(told, partial(summed, wanted), yours, slices)
        yield Step(f"the running sum along {name} is missing", partial(summed, yours), wanted, slices)
        for what, of in DIVISORS:
            fitted = slices + zeros  # which stay, whatever they are divided by
            told = f"right, once divided by its {what} over {name}: is another one used, or none?"
            yield Step(told, partial(_divided, yours, d, of), wanted, fitted)
            told = f"divided by the {what} over {name}, which is not wanted"
            yield Step(told, partial(_divided, wanted, d, of), yours, fitted)
        for what, of in SUBTRACTED:
            told = f"right, once its {what} over {name} is subtracted: is another one used, or none?"
            yield Step(told, partial(_less, yours, d, of), wanted, slices)
            told = f"the {what} over {name} is subtracted, which is not wanted"
            yield Step(told, partial(_less, wanted, d, of), yours, slices)


def _divided(values: Tensor, dim: int, of: Reduction) -> Tensor:
    return values / of(values, dim)


def _less(values: Tensor, dim: int, of: Reduction) -> Tensor:
    return values - of(values, dim)


def one_place(case: Evidence) -> str | None:
    """All along one dim, yours holds what is wanted at its first or last place alone."""
    for d, size in enumerate(case.wanted.shape):
        if (
            size < 2
            or case.wanted.ndim < 2
            or not case.same(case.yours.narrow(d, 0, 1).expand_as(case.yours))
        ):
            continue
        for index, which in ((size - 1, "last"), (0, "first")):
            part = case.wanted.select(d, index)
            if case.agree(part, case.yours.select(d, 0), tried=2 * case.wanted.ndim):
                return f"everywhere along {case.name(d)}, this is what is wanted at the {which} place"
    return None


def reduced_input(case: Evidence) -> str | None:
    """Yours is an input, reduced over a dim."""
    if case.is_complex or case.yours.is_complex() or case.yours.numel() < FEWEST:
        return None
    choices = [
        (what, name, d, reduce(value, d))
        for name, value in case.inputs.items()
        for d, size in enumerate(value.shape)
        if size > 1 and value.shape[:d] + value.shape[d + 1 :] == case.yours.shape
        for what, reduce in REDUCTIONS
        # Any number that is picked out of so many is the largest by chance, now and then.
        if what not in PICKED or math.log2(size) * case.yours.numel() >= case.needed
    ]
    for what, name, d, guess in choices:
        if not case.same(case.wanted, guess) and case.agree(guess, tried=len(choices)):
            return f"this is the {what} of {name} over dim {d}"
    return None
