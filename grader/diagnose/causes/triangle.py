"""Masks: inverted, off by one diagonal, the wrong triangle, missing."""

import math

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import Evidence

LOWER, UPPER = "lower", "upper"


def masked(case: Evidence) -> str | None:
    """What is kept (not 0, False or -inf) differs between yours and wanted as one mask from another."""
    if case.is_complex:
        return None
    if case.yours_dtype == case.wanted_dtype == torch.bool and case.agree(1 - case.wanted):
        return "the mask is inverted"
    if case.wanted.ndim < 2:
        return None
    kept, to_keep = _kept(case)
    wanted = _triangle(to_keep)
    if wanted is None:
        return None
    if bool(kept.all()):
        right = case.close(case.yours, case.wanted)[to_keep]
        sure = bool(right.all()) and case.informative(case.wanted[to_keep])
        return f"right where it is kept, but {_filling(case, to_keep)}" if sure else None
    yours = _triangle(kept)
    if yours is None or yours == wanted:
        return None
    both = kept & to_keep
    if not bool(case.close(case.yours[both], case.wanted[both]).all()) and not (
        _are_weights(case.yours) and _are_weights(case.wanted)
    ):
        return None
    rows, columns = case.wanted.shape[-2:]
    patterns = kept[(0,) * (kept.ndim - 2)].double(), to_keep[(0,) * (kept.ndim - 2)].double()
    bits = sum(case.bits(p) * p.numel() for p in patterns)
    return _told(yours, wanted) if bits >= case.needed + 2 * math.log2(2 * (rows + columns)) else None


def _filling(case: Evidence, to_keep: Tensor) -> str:
    """What stands where -inf is wanted: a large negative number is no mask."""
    rest = case.yours[~to_keep]
    value = float(rest[0])
    if (
        not bool((case.wanted[~to_keep] == float("-inf")).all())
        or value == 0
        or not bool((rest == value).all())
    ):
        return "nothing is masked"
    return f"the rest is {value:.3g}, where -inf is wanted"


def _are_weights(values: Tensor) -> bool:
    """Rows that sum to 1: there, another mask changes the values that are kept, too."""
    return bool(((values.sum(-1) - 1).abs() <= 1e-4).all())


def _kept(case: Evidence) -> tuple[Tensor, Tensor]:
    hidden = float("-inf")
    if bool((case.wanted == hidden).any()) or bool((case.yours == hidden).any()):
        return case.yours != hidden, case.wanted != hidden
    return case.yours != 0, case.wanted != 0


def _triangle(kept: Tensor) -> tuple[str, int] | None:
    """The triangle that is kept in every matrix, with its diagonal as `tril` and `triu` count it."""
    matrices = kept.flatten(0, -3) if kept.ndim > 2 else kept[None]
    pattern = matrices[0]
    if bool(pattern.all()) or not bool(pattern.any()) or not bool((matrices == pattern).all()):
        return None
    rows, columns = pattern.shape
    diagonal = torch.arange(columns, device="cpu") - torch.arange(rows, device="cpu")[:, None]
    last, first = int(diagonal[pattern].max()), int(diagonal[pattern].min())
    if torch.equal(pattern, diagonal <= last):
        return LOWER, last
    return (UPPER, first) if torch.equal(pattern, diagonal >= first) else None


def _told(yours: tuple[str, int], wanted: tuple[str, int]) -> str:
    (side, k), (right_side, right_k) = yours, wanted
    if side != right_side:
        inverted = right_k + 1 if right_side == LOWER else right_k - 1
        return (
            "the mask is inverted" if k == inverted else f"the {side} triangle is kept, not the {right_side}"
        )
    more = (k > right_k) == (side == LOWER)
    if {k, right_k} == ({-1, 0} if side == LOWER else {0, 1}):
        return f"the diagonal is {'kept but should be masked' if more else 'masked but should be kept'}"
    name = "tril" if side == LOWER else "triu"
    return f"the mask is off by {abs(k - right_k)}: {name}(diagonal={k}) for {name}(diagonal={right_k})"
