"""Where two tensors of one shape differ: in words, and as a small map."""

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import to_double
from grader.protocol.feedback import RIGHT, WRONG, Heatmap

ROWS, COLUMNS = 4, 32


def differs(yours: Tensor, wanted: Tensor, rtol: float, atol: float) -> Tensor:
    """True where the values differ by more than atol + rtol·|wanted|; NaN is equal to NaN, inf to inf."""
    exact = not any(t.is_floating_point() or t.is_complex() for t in (yours, wanted))
    if exact and yours.dtype == wanted.dtype and rtol == atol == 0:
        return yours != wanted
    y, w = to_double(yours, wanted)
    if torch.equal(y, w):
        return torch.zeros(y.shape, dtype=torch.bool, device="cpu")
    return ~torch.isclose(y, w, rtol=rtol, atol=atol, equal_nan=True)


def first_of(wrong: Tensor) -> tuple[int, ...]:
    """Where the first True is. (`torch.unravel_index` takes ten times as long.)"""
    place, index = int(wrong.flatten().int().argmax()), []
    for size in reversed(wrong.shape):
        place, i = divmod(place, size)
        index.append(i)
    return tuple(reversed(index))


def draw(wrong: Tensor, dims: Sequence[str] = ()) -> Heatmap | None:
    """At most 4 rows of 32 columns: `·` where a value is right, `×` where it is wrong, and what they show.

    That is the last two dims at the first index of the others that has an error, from the first row and
    column with one on where it does not fit. None where a map would say nothing: without dims, with
    nothing wrong, or all of it.
    """
    if not wrong.ndim or not bool(wrong.any()) or bool(wrong.all()):
        return None
    first = first_of(wrong)
    outer = first[:-2]
    plane = wrong[tuple(outer)] if wrong.ndim > 1 else wrong[None]
    rows, columns = plane.shape
    errors = plane.nonzero()
    top = _start(int(errors[:, 0].min()), rows, ROWS)
    left = _start(int(errors[:, 1].min()), columns, COLUMNS)
    window = plane[top : top + ROWS, left : left + COLUMNS]
    lines = ["".join(WRONG if bad else RIGHT for bad in row) for row in window.tolist()]
    note = [_label(dims, d, i) for d, i in enumerate(outer)]
    names = [f": {name}" for name in dims[-2:]] if dims else ["", ""]
    if wrong.ndim > 1 and (dims or len(lines) < rows):
        note.append(f"rows{names[0]}{_range(top, len(lines), rows)}")
    if dims or len(lines[0]) < columns:
        note.append(f"columns{names[-1]}{_range(left, len(lines[0]), columns)}")
    return Heatmap(tuple(lines), ", ".join(note))


def places(wrong: Tensor, dims: Sequence[str] = ()) -> str:
    """Which slice holds all errors: `all of them at time=0`; empty where they are spread or all is wrong."""
    count = int(wrong.sum())
    if count < 2 or count == wrong.numel():
        return ""
    hit = [
        wrong.movedim(d, 0).reshape(n, -1).any(1).nonzero().flatten().tolist()
        for d, n in enumerate(wrong.shape)
    ]
    fixed = [_label(dims, d, h[0]) for d, h in enumerate(hit) if len(h) == 1 < wrong.shape[d]]
    if fixed:
        return f"all of them at {', '.join(fixed)}"
    if side := _diagonal(wrong):
        return f"all of them {side}"
    said = [text for d, h in enumerate(hit) if (text := _stretch(wrong, d, h, dims))]
    return said[0] if said else ""


def label_at(index: Sequence[int], dims: Sequence[str]) -> str:
    """`batch=0, time=2`, or `[0, 2]` without names; empty for a tensor without dims."""
    return (
        ", ".join(f"{n}={i}" for n, i in zip(dims, index, strict=True))
        if dims
        else str(list(index))
        if index
        else ""
    )


def _diagonal(wrong: Tensor) -> str:
    if wrong.ndim < 2 or min(wrong.shape[-2:]) < 2:
        return ""
    cells = wrong.flatten(0, -3).any(0) if wrong.ndim > 2 else wrong
    found = cells.nonzero()
    offset = found[:, 1] - found[:, 0]
    if len(found) < 2:
        return ""
    for side, holds in (("on", offset == 0), ("above", offset > 0), ("below", offset < 0)):
        if bool(holds.all()):
            return f"{side} the diagonal"
    return ""


def _stretch(wrong: Tensor, dim: int, hit: list[int], dims: Sequence[str]) -> str:
    n, name = wrong.shape[dim], _name(dims, dim)
    low, high = hit[0], hit[-1]
    if len(hit) == n:
        return ""
    steps = {b - a for a, b in itertools.pairwise(hit)}
    if steps != {1}:
        every = steps == {2} and len(hit) > 2
        return f"only at every second {name}, from {low} on" if every else ""
    whole = int(wrong.sum()) == wrong.numel() // n * len(hit)
    if whole and (low, high) == (0, n - 2):
        return f"every one but the last along {name}"
    if whole and (low, high) == (1, n - 1):
        return f"every one but the first along {name}"
    if high == n - 1:
        return f"only where {name} >= {low}"
    return f"only where {name} <= {high}" if low == 0 else f"only where {low} <= {name} <= {high}"


def _start(first_error: int, size: int, shown: int) -> int:
    return 0 if size <= shown or first_error < shown else min(first_error, size - shown)


def _range(start: int, shown: int, size: int) -> str:
    return "" if shown == size else f" {start}..{start + shown - 1} of {size}"


def _name(dims: Sequence[str], dim: int) -> str:
    return dims[dim] if dims else f"dim {dim}"


def _label(dims: Sequence[str], dim: int, index: int) -> str:
    return f"{dims[dim]}={index}" if dims else f"dim {dim} = {index}"
