"""The likely cause of a wrong tensor: at most one, and only where the numbers bear it out.

Every cause is a hypothesis about the whole tensor. It is told when what came back follows from it
within tolerance and `Evidence.agree` finds that no accident; the most specific ones are tried first.
"""

from collections.abc import Callable

from grader.diagnose.causes.before import stepped
from grader.diagnose.causes.error import cause_of_error
from grader.diagnose.causes.evidence import Evidence, Suspects, make_evidence
from grader.diagnose.causes.factor import additive, factor, factor_along
from grader.diagnose.causes.formula import formula, nearly_float32, one_value, rounded, softmaxed
from grader.diagnose.causes.nonfinite import nonfinite
from grader.diagnose.causes.order import reordered, shifted, unchanged_input
from grader.diagnose.causes.shape import misshapen
from grader.diagnose.causes.suspect import suspected, suspected_of_dtype
from grader.diagnose.causes.triangle import masked
from grader.diagnose.causes.type import cause_of_tensor, cause_of_type
from grader.diagnose.describe import dtype_name

__all__ = [
    "Evidence",
    "Suspects",
    "cause_of_dtype",
    "cause_of_error",
    "cause_of_shape",
    "cause_of_tensor",
    "cause_of_type",
    "cause_of_values",
    "make_evidence",
]

LARGEST = 1 << 22
"""Elements beyond which no cause is looked for: it would cost more memory than it is worth."""

EXACT = 2.0**53
"""Integers from here on are no longer told apart in double precision."""

ON_SIGHT: tuple[Callable[[Evidence], str | None], ...] = (
    suspected,
    stepped,
    nonfinite,
    unchanged_input,
    masked,
    one_value,
    rounded,
)
BY_NUMBERS: tuple[Callable[[Evidence], str | None], ...] = (
    reordered,
    factor,
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


def cause_of_shape(case: Evidence) -> str | None:
    """How a tensor of the wrong shape relates to the wanted one; None where nothing fits."""
    return (suspected(case) or unchanged_input(case) or misshapen(case)) if _readable(case) else None


def cause_of_dtype(case: Evidence) -> str | None:
    """Why a tensor with the right values has the wrong dtype; None where chance would do."""
    if told := suspected_of_dtype(case):
        return told
    name = f"torch.{dtype_name(case.wanted_dtype)}"
    return f"right values; only the dtype differs: .to({name})" if case.agree(case.wanted) else None


def _readable(case: Evidence) -> bool:
    if not case.yours.numel() or not case.wanted.numel():
        return False
    if case.yours.numel() > LARGEST or case.wanted.numel() > LARGEST:
        return False
    whole = not (case.wanted_dtype.is_floating_point or case.wanted_dtype.is_complex)
    return not (whole and float(case.wanted.abs().max()) >= EXACT)
