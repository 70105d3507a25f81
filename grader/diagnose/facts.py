"""What differs between two tensors of one shape, as facts: how many values, the first of them, or all."""

from collections.abc import Sequence

import torch
from torch import Tensor

from grader.diagnose.causes.evidence import to_double
from grader.diagnose.describe import describe
from grader.diagnose.heatmap import first_of, label_at, places
from grader.protocol.feedback import Fact

WIDTH = 90
"""Columns of a fact, without its name."""

FEW = 8
"""Values that are shown one by one."""


def value_facts(
    yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str], before: Tensor | None
) -> list[Fact]:
    """All that is told of wrong values; `before` is what stood there before the call."""
    if wrong.numel() == 1:
        return [Fact("value", f"{_first(yours, wanted, wrong, dims, before)} in {describe(yours)}")]
    count = Fact("values", _count(yours, wanted, wrong, dims))
    if whole := _whole(yours, wanted, wrong, dims, before):
        return [count, *whole]
    first, error = _first(yours, wanted, wrong, dims, before), _largest_error(yours, wanted, wrong)
    return [count, Fact("first", first), *([Fact("error", error)] if error else [])]


def in_short(yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str]) -> list[Fact]:
    """How many are wrong and which is the first, where more than the values is wrong."""
    count, first = _count(yours, wanted, wrong, dims), _first(yours, wanted, wrong, dims)
    both = f"{count}; first {first}"
    return [Fact("values", both)] if len(both) <= WIDTH else [Fact("values", count), Fact("first", first)]


def _whole(
    yours: Tensor, wanted: Tensor, wrong: Tensor, dims: Sequence[str], before: Tensor | None
) -> list[Fact]:
    """Every value of small tensors, with as many digits as tell the wrong ones from the right."""
    if wrong.numel() > FEW:
        return []
    pairs = zip(yours[wrong].tolist(), wanted[wrong].tolist(), strict=True)
    digits = max(_digits(y, w) for y, w in pairs)
    named = {"yours": yours, "wanted": wanted, "before": before}
    told = {name: _listed(t.tolist(), digits) for name, t in named.items() if t is not None}
    told["wanted"] += f"   ({', '.join(dims)})" if dims else ""
    return [Fact(*pair) for pair in told.items()] if max(map(len, told.values())) <= WIDTH else []


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
