"""Yours has another shape than wanted: how the two relate."""

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor

from grader.diagnose.causes.along import REDUCTIONS, reduced_input
from grader.diagnose.causes.evidence import Evidence, orders
from grader.diagnose.causes.order import permuted

Shape = tuple[int, ...]

A_FACT = 5.0
"""Bits from which on it is said of numbers that they are right, which is so, as far as they go."""


def misshapen(case: Evidence) -> str | None:
    """The first relation between the two that the numbers bear out."""
    relations = (
        _reshaped,
        permuted,
        _scrambled,
        _repeated,
        _crossed,
        _cropped,
        _selected,
        _indices,
        _reductions,
        reduced_input,
        _sizes_swapped,
    )
    return next((told for relation in relations if (told := relation(case))), None)


def nothing_left(case: Evidence) -> str | None:
    """Yours is empty, and wanted is not."""
    yours, wanted = case.yours.shape, case.wanted.shape
    if not case.wanted.numel() or len(yours) != len(wanted):
        return None
    lost = [d for d, size in enumerate(yours) if not size]
    return f"nothing is left along {case.name(lost[0])}: does a slice end at -0?" if lost else None


def _reshaped(case: Evidence) -> str | None:
    """The right numbers in the right order, which dims of size 1 need no proof for: it is so."""
    if not case.are_right():
        return None
    yours, wanted = tuple(case.yours.shape), tuple(case.wanted.shape)
    if spare := _unit_dims(yours, wanted):
        return f"right values; drop the size-1 {_at(spare)} (keepdim=?)"
    if missing := _unit_dims(wanted, yours):
        return f"right values; a size-1 {_at(missing)} is missing (keepdim=? unsqueeze?)"
    return f"right values in the right order: reshape to {wanted}" if case.agree(case.wanted) else None


def _unit_dims(longer: Shape, shorter: Shape) -> list[int]:
    """Where `longer` has size-1 dims that `shorter` lacks; empty where that is not the difference."""
    units = [d for d, n in enumerate(longer) if n == 1]
    for chosen in itertools.combinations(units, max(len(longer) - len(shorter), 0)):
        if tuple(n for d, n in enumerate(longer) if d not in chosen) == shorter:
            return list(chosen)
    return []


def _at(positions: list[int]) -> str:
    where = " and ".join(str(p) for p in positions)
    return f"dim at position {where}" if len(positions) == 1 else f"dims at positions {where}"


def _sizes_swapped(case: Evidence) -> str | None:
    """The shapes alone say it: the numbers are others as well."""
    yours, wanted = tuple(case.yours.shape), tuple(case.wanted.shape)
    if len(yours) != len(wanted) or sorted(yours) != sorted(wanted) or len(set(wanted)) < len(wanted):
        return None
    moved = [d for d in range(len(wanted)) if yours[d] != wanted[d]]
    both = f"{case.name(moved[0])} and {case.name(moved[1])}" if len(moved) == 2 else "the dims"
    return f"the sizes of {both} have changed places"


def _scrambled(case: Evidence) -> str | None:
    views = [case.wanted.permute(order) for order in orders(case.wanted.ndim)]
    if any(case.agree(view, tried=len(views)) for view in views):
        return "right values in another order and shape: permute or transpose before the reshape"
    return None


def _repeated(case: Evidence) -> str | None:
    """wanted, broadcast to a larger shape."""
    yours, wanted = case.yours, case.wanted
    if yours.numel() <= wanted.numel() or yours.ndim < wanted.ndim:
        return None
    padded = (1,) * (yours.ndim - wanted.ndim) + tuple(wanted.shape)
    if any(w not in (1, y) for w, y in zip(padded, yours.shape, strict=True)):
        return None
    if not case.agree(wanted.expand(yours.shape), fitted=yours.numel() - wanted.numel()):
        return None
    dims = [str(d) for d, (w, y) in enumerate(zip(padded, yours.shape, strict=True)) if w != y]
    return f"right values, repeated along dim {' and '.join(dims)}: broadcast where it should not be?"


def _crossed(case: Evidence) -> str | None:
    """(B,) met (B, 1): wanted is the diagonal of yours."""
    for a, b in itertools.combinations(range(case.yours.ndim), 2):
        n = case.yours.shape[a]
        if n == case.yours.shape[b] and n > 1:
            diagonal = case.yours.diagonal(0, a, b)
            if diagonal.numel() == case.wanted.numel() and case.agree(
                case.wanted.reshape(diagonal.shape), diagonal
            ):
                return f"({n},) met ({n}, 1) and became ({n}, {n}): the right values are its diagonal"
    return None


def _cropped(case: Evidence) -> str | None:
    """One dim is too long or too short; the rest of the numbers is right."""
    yours, wanted = case.yours, case.wanted
    unequal = [
        d for d in range(wanted.ndim) if yours.ndim == wanted.ndim and yours.shape[d] != wanted.shape[d]
    ]
    if len(unequal) != 1:
        return None
    d = unequal[0]
    small, large = sorted((yours, wanted), key=lambda t: t.shape[d])
    kept, spare = small.shape[d], large.shape[d] - small.shape[d]
    said = f"{'are' if spare > 1 else 'is'} {'missing' if yours is small else 'too many'}"
    for start, end in ((0, "last"), (spare, "first")):
        part = large.narrow(d, start, kept)
        is_right = case.same(part, small) and case.bits(small) * small.numel() >= A_FACT
        if is_right or case.agree(part, small, tried=2):
            return f"right values, but the {end} {spare} along {case.name(d)} {said}"
    return None


def _selected(case: Evidence) -> str | None:
    """One of the two is the other at one index of a dim."""
    large, small = case.wanted, case.yours
    if large.ndim < small.ndim:
        large, small = small, large
    if large.ndim != small.ndim + 1:
        return None
    tried = sum(large.shape)
    for d, i in ((d, i) for d, n in enumerate(large.shape) for i in range(min(n, 64))):
        part = large.select(d, i)
        if part.shape == small.shape and case.agree(part, small, tried=tried):
            if large is case.wanted:
                return f"these are only the values at {case.name(d)} = {i}"
            return f"right values at index {i} of dim {d}; the others are too many"
    return None


def _indices(case: Evidence) -> str | None:
    """Scores or one-hot vectors where indices are wanted, or the other way round."""
    yours, wanted = case.yours, case.wanted
    if case.is_complex:
        return None
    if yours.ndim == wanted.ndim + 1 and not case.wanted_dtype.is_floating_point:
        for d in range(yours.ndim):
            if _same_indices(case, yours.argmax(d), wanted):
                kind = "one-hot vectors" if _is_one_hot(yours, d) else "scores"
                return f"{kind} where indices are wanted: argmax over dim {d} is missing"
    if wanted.ndim == yours.ndim + 1:
        for d in range(wanted.ndim):
            if _is_one_hot(wanted, d) and _same_indices(case, wanted.argmax(d), yours):
                return f"indices where one-hot vectors over {case.name(d)} are wanted"
    return None


def _same_indices(case: Evidence, found: Tensor, indices: Tensor) -> bool:
    return found.shape == indices.shape and case.agree(found.double(), indices)


def _is_one_hot(values: Tensor, dim: int) -> bool:
    return bool(((values == 0) | (values == 1)).all()) and bool((values.sum(dim) == 1).all())


def _reductions(case: Evidence) -> str | None:
    """A reduction is missing, or one too many."""
    if case.is_complex:
        return None
    missing = case.yours.ndim > case.wanted.ndim
    large, small = (case.yours, case.wanted) if missing else (case.wanted, case.yours)
    choices = list(_reduced(large, small.shape))
    for name, dim, reduced in choices:
        if case.agree(reduced, small, tried=len(choices)):
            if missing:
                return f"the {name} over {'all dims' if dim is None else f'dim {dim}'} is missing"
            return (
                f"this is the {name} over {'all dims' if dim is None else case.name(dim)}, which should stay"
            )
    return None


def _reduced(large: Tensor, shape: torch.Size) -> Iterator[tuple[str, int | None, Tensor]]:
    for name, reduce in REDUCTIONS:
        for d, n in enumerate(large.shape):
            if n > 1 and large.ndim == len(shape) + 1 and large.shape[:d] + large.shape[d + 1 :] == shape:
                yield name, d, reduce(large, d)
        if not shape and large.ndim > 1:
            yield name, None, reduce(large.flatten(), 0)
