"""What differs between two tensors of one shape, as facts: how many values, the first of them, or all."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from grader.course.arrays import Array
from grader.diagnose.causes.evidence import to_double
from grader.diagnose.describe import describe
from grader.diagnose.heatmap import first_of, label_at, places
from grader.protocol.feedback import Fact, Listed

WIDTH = 90
"""Columns of a fact, without its name."""

FEW = 12
"""Values that are shown one by one."""


Told = tuple[list[Fact], Listed | None]


def value_facts(
    yours: Tensor,
    wanted: Tensor,
    wrong: Tensor,
    dims: Sequence[str],
    before: Tensor | None,
    inputs: Mapping[str, Tensor],
) -> Told:
    """All that is told of wrong values; `before` is what stood there before the call."""
    if wrong.numel() == 1:
        return [Fact("value", f"{_first(yours, wanted, wrong, dims, before)} in {describe(yours)}")], None
    count = Fact("values", _count(yours, wanted, wrong, dims))
    whole, listed = _whole(yours, wanted, wrong, dims, before, inputs)
    if whole:
        return [count, *whole], listed
    first, error = _first(yours, wanted, wrong, dims, before), _largest_error(yours, wanted, wrong)
    return [count, Fact("first", first), *([Fact("error", error)] if error else [])], None


def small(yours: Tensor, wanted: Tensor, inputs: Mapping[str, Tensor]) -> Told:
    """Both with all their values, where their shapes differ and there is room."""
    if not 0 < max(yours.numel(), wanted.numel()) <= FEW or not yours.numel() or not wanted.numel():
        return [], None
    text = f"yours {_listed(yours.tolist(), 4)}, wanted {_listed(wanted.tolist(), 4)}"
    if len(text) > WIDTH:
        return [], None
    return _with_given([Fact("values", text)], {"yours": yours, "wanted": wanted}, inputs, 4)


def _with_given(
    told: list[Fact], tensors: Mapping[str, Tensor], inputs: Mapping[str, Tensor], digits: int
) -> Told:
    """Facts that tell tensors in full, and what the call was given where all of it is small."""
    text = ", ".join(f"{n} = {_listed(t.tolist(), 4)}" for n, t in inputs.items() if t.numel() <= FEW)
    is_all = bool(inputs) and all(t.numel() <= FEW for t in inputs.values()) and len(text) <= WIDTH
    facts = [*told, *([Fact("given", text)] if is_all else [])]
    drawn = {**tensors, **(inputs if is_all else {})}
    if any(t.is_complex() for t in drawn.values()):
        return facts, None
    arrays = tuple((name, _array(t, digits if name in tensors else 4)) for name, t in drawn.items())
    return facts, Listed(arrays, tuple(fact.name for fact in facts))


def _array(values: Tensor, digits: int) -> Array:
    """With as many digits as are told."""
    numbers = [*values.flatten().tolist()]
    if values.is_floating_point():
        texts = [_number(number, digits) for number in numbers]
        numbers = [float(text) if math.isfinite(n) else text for n, text in zip(numbers, texts, strict=True)]
    return Array(tuple(values.shape), tuple(numbers))


def in_short(yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str]) -> list[Fact]:
    """How many are wrong and which is the first, where more than the values is wrong."""
    count, first = _count(yours, wanted, wrong, dims), _first(yours, wanted, wrong, dims)
    both = f"{count}; first {first}"
    return [Fact("values", both)] if len(both) <= WIDTH else [Fact("values", count), Fact("first", first)]


def _whole(
    yours: Tensor,
    wanted: Tensor,
    wrong: Tensor,
    dims: Sequence[str],
    before: Tensor | None,
    inputs: Mapping[str, Tensor],
) -> Told:
    """Every value of small tensors, with as many digits as tell the wrong ones from the right."""
    if wrong.numel() > FEW:
        return [], None
    pairs = zip(yours[wrong].tolist(), wanted[wrong].tolist(), strict=True)
    digits = max(_digits(y, w) for y, w in pairs)
    named = {"yours": yours, "wanted": wanted, **({} if before is None else {"before": before})}
    told = {name: _listed(t.tolist(), digits) for name, t in named.items()}
    told["wanted"] += f"   ({', '.join(dims)})" if dims else ""
    if max(map(len, told.values())) > WIDTH:
        return [], None
    return _with_given([Fact(*pair) for pair in told.items()], named, inputs, digits)


def _listed(values: object, digits: int) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_listed(value, digits) for value in values)}]"
    assert isinstance(values, (int, float, complex))
    return _number(values, digits)


def apart(yours: complex, wanted: complex) -> tuple[str, str]:
    """Two different numbers, with as many digits as it takes to see that."""
    digits = _digits(yours, wanted)
    return _number(yours, digits), _number(wanted, digits)


def _digits(yours: complex, wanted: complex) -> int:
    return next((n for n in range(3, 17) if _number(yours, n) != _number(wanted, n)), 17)


def _number(value: complex, digits: int) -> str:
    return str(value) if isinstance(value, int) else f"{value:.{digits}g}"


def _count(yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str]) -> str:
    (values,) = to_double(yours)
    odd = {"NaN": values.isnan(), "inf": values.isinf()}
    kinds = ", ".join(f"{n} {kind}" for kind, mask in odd.items() if (n := int((mask & wrong).sum())))
    if kinds and not any(bool(mask[first_of(wrong)]) for mask in odd.values()):
        kinds += f", from {label_at(first_of(wrong & ~torch.isfinite(values)), dims)} on"
    count, total = int(wrong.sum()), wrong.numel()
    said = (
        f"all {total} are wrong"
        if count == total
        else f"{count} of {total} {'is' if count == 1 else 'are'} wrong"
    )
    where = places(wrong, dims)
    return (
        f"{said} in {describe(wanted)}" + (f" ({kinds})" if kinds else "") + (f", {where}" if where else "")
    )


def _first(
    yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str], before: Tensor | None = None
) -> str:
    index = first_of(wrong)
    y, w = apart(yours[index].item(), wanted[index].item())
    was = "" if before is None else f", before {_number(before[index].item(), 3)}"
    where = label_at(index, dims)
    return f"at {where}: yours {y}, wanted {w}{was}" if where else f"yours {y}, wanted {w}{was}"


def _largest_error(yours: Tensor, wanted: Tensor, wrong: Tensor) -> str:
    """Over the wrong elements where both are finite; empty where there is none or the values are bools."""
    if torch.bool in (yours.dtype, wanted.dtype):
        return ""
    y, w = to_double(yours, wanted)
    gap, size = (y - w).abs(), w.abs()
    counts = wrong & torch.isfinite(gap)
    absolute = float(torch.where(counts, gap, 0).max())
    relative = float(torch.where(counts & (size > 0), gap / size, 0).max())
    return f"at most {absolute:.3g}" + (f", relative {relative:.3g}" if relative else "") if absolute else ""
