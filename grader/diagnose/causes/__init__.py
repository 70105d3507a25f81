"""The likely cause of a wrong tensor: at most one, and only where the numbers bear it out.

Every cause is a hypothesis about the whole tensor. It is told when what came back follows from it
within tolerance and `Evidence.agree` finds that no accident; the most specific ones are tried first.
"""

from collections.abc import Callable
from dataclasses import replace

import torch

from grader.diagnose.causes.along import along, one_place, reduced_input
from grader.diagnose.causes.before import stepped
from grader.diagnose.causes.cut import cut
from grader.diagnose.causes.evidence import FITS, Evidence, Pattern, Suspects, make_evidence
from grader.diagnose.causes.factor import additive, factor, factor_along
from grader.diagnose.causes.formula import formula, nearly_float32, one_value, rounded, softmaxed
from grader.diagnose.causes.nonfinite import nonfinite
from grader.diagnose.causes.order import reordered, shifted, unchanged_input
from grader.diagnose.causes.plain import cause_of_plain
from grader.diagnose.causes.shape import misshapen, nothing_left
from grader.diagnose.causes.suspect import all_suspected, suspected, suspected_of_dtype
from grader.diagnose.causes.triangle import masked
from grader.diagnose.causes.type import cause_of_pieces, cause_of_type
from grader.diagnose.describe import dtype_name

__all__ = [
    "Evidence",
    "Pattern",
    "Suspects",
    "cause_of_dtype",
    "cause_of_number",
    "cause_of_pieces",
    "cause_of_plain",
    "cause_of_shape",
    "cause_of_type",
    "cause_of_values",
    "fits",
    "make_evidence",
    "suspects_that_fit",
]

LARGEST = 1 << 22
"""Elements beyond which no cause is looked for: it would cost more memory than it is worth."""

FEW = 256
"""Elements up to which it is worth a look which causes fit, and prove too little."""

EXACT = 2.0**53
"""Integers from here on are no longer told apart in double precision."""

ON_SIGHT: tuple[Callable[[Evidence], str | None], ...] = (
    suspected,
    stepped,
    nonfinite,
    unchanged_input,
    cut,
    masked,
    one_value,
    rounded,
)
BY_NUMBERS: tuple[Callable[[Evidence], str | None], ...] = (
    reordered,
    factor,
    reduced_input,
    along,
    one_place,
    additive,
    shifted,
    softmaxed,
    formula,
    nearly_float32,
    factor_along,
)


def cause_of_values(case: Evidence) -> str | None:
    """Why a tensor of the right shape holds wrong values; None where nothing fits or chance would do."""
    if not _readable(case):
        return None
    for cause in ON_SIGHT:
        if told := cause(case):
            return told
    if case.same(case.wanted):  # wrong by less than a cause can be judged by
        return None
    return next((told for cause in BY_NUMBERS if (told := cause(case))), None)


def fits(case: Evidence) -> tuple[str, ...]:
    """Causes that would give just this, as chance would: for somebody who knows more than these numbers."""
    if not _readable(case) or case.yours.numel() > FEW:
        return ()
    case = replace(case, needed=FITS)
    alike = case.yours.shape == case.wanted.shape
    causes = (*ON_SIGHT, *BY_NUMBERS) if alike else (unchanged_input, misshapen)
    told = [told for cause in causes if (told := cause(case)) and not isinstance(told, Pattern)]
    return tuple(dict.fromkeys(one for one in told if one not in case.suspects))


def suspects_that_fit(case: Evidence) -> tuple[str, ...]:
    """Suspects that give just this, whatever it proves."""
    return tuple(all_suspected(replace(case, needed=FITS))) if _readable(case) else ()


def cause_of_number(yours: float, wanted: float) -> str | None:
    """Why a Python number is another one than wanted, by what single precision knows of it."""
    one, other = (torch.tensor(number, dtype=torch.float32) for number in (yours, wanted))
    return cause_of_values(make_evidence(one, other, (), {}, 0.0, 0.0))


def cause_of_shape(case: Evidence) -> str | None:
    """How a tensor of the wrong shape relates to the wanted one; None where nothing fits."""
    if not case.yours.numel():
        return suspected(case) or nothing_left(case)
    return (suspected(case) or unchanged_input(case) or misshapen(case)) if _readable(case) else None


def cause_of_dtype(case: Evidence) -> str | None:
    """Why a tensor with the right values has the wrong dtype; None for mere zeros."""
    if told := suspected_of_dtype(case):
        return told
    name = f"torch.{dtype_name(case.wanted_dtype)}"
    return f"right values; only the dtype differs: .to({name})" if case.are_right() else None


def _readable(case: Evidence) -> bool:
    if not case.yours.numel() or not case.wanted.numel():
        return False
    if case.yours.numel() > LARGEST or case.wanted.numel() > LARGEST:
        return False
    whole = not (case.wanted_dtype.is_floating_point or case.wanted_dtype.is_complex)
    return not (whole and float(case.wanted.abs().max()) >= EXACT)
