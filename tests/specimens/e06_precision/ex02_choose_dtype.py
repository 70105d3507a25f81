"""Answers to choose_dtype that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FITS = "if info.min <= low and high <= info.max:"
SIZES = "    sizes = sizes[(sizes > 0) & (sizes < math.inf)]  # (numbers that count,)\n"
ENDS = "low, high = (int(x.min()), int(x.max())) if x.numel() else (0, 0)"
LAST = "return x.to(float_for(sizes.min().item(), sizes.max().item(), error))"
UPSIDE = "    if not 0 < smallest <= largest < math.inf:\n"

SPECIMENS = [
    Wrong(
        "the distance to the next number for the error",
        edits=[("info.eps / 2 <= error", "info.eps <= error")],
        check="test_digits",
        says="half of it at most",
        rung="job",
    ),
    Wrong(
        "min, which is the most negative number, for the smallest size",
        edits=[("info.smallest_normal <= smallest", "info.min <= smallest")],
        check="test_smallest",
        says="most negative number",
        rung="job",
    ),
    Wrong(
        "eps for the smallest number",
        edits=[("info.smallest_normal <= smallest", "info.eps <= smallest")],
        check="test_smallest",
        rung="job",
    ),
    Wrong(
        "looks at the range only",
        edits=[(" and info.eps / 2 <= error", "")],
        check="test_digits",
        says="digits are not looked at",
        rung="job",
    ),
    Wrong(
        "forgets overflow",
        edits=[(" and largest <= info.max", "")],
        check="test_largest",
        says="largest number is not looked at",
        rung="job",
    ),
    Wrong(
        "the ends of integers are out",
        edits=[(FITS, "if info.min < low and high < info.max:")],
        check="test_integers",
        says="ends are left out",
        rung="job",
    ),
    Wrong(
        "only the upper end of integers",
        edits=[(FITS, "if high <= info.max:")],
        check="test_integers",
        says="only the upper end",
        rung="job",
    ),
    Wrong(
        "zero counts",
        edits=[("(sizes > 0) & (sizes < math.inf)", "sizes < math.inf")],
        check="test_columns",
        says="not 0.0 and",
        rung="job",
    ),
    Wrong(
        "negative numbers do not count",
        edits=[("sizes = x.abs()", "sizes = x")],
        check="test_columns",
        says="negative numbers do not count",
        rung="job",
    ),
    Wrong(
        "integers by their largest size",
        edits=[(ENDS, "low, high = 0, int(x.abs().max()) if x.numel() else 0")],
        check="test_integer_columns",
        says="sizes decide",
        rung="job",
    ),
    Wrong(
        "inf counts",
        edits=[("(sizes > 0) & (sizes < math.inf)", "sizes > 0")],
        check="test_inf_and_nan",
    ),
    Wrong(
        "drops inf and NaN",
        edits=[(LAST, LAST.replace("x.to(", "x.nan_to_num().to("))],
        check="test_inf_and_nan",
    ),
    Wrong(
        "no empty integer columns",
        edits=[(ENDS, "low, high = int(x.min()), int(x.max())")],
        check="test_nothing_that_counts",
    ),
    Wrong(
        "integers through float32",
        edits=[(ENDS, "low, high = (int(x.float().min()), int(x.float().max())) if x.numel() else (0, 0)")],
        check="test_large_integers",
    ),
    Wrong(
        "writes to the column",
        edits=[("sizes = x.abs()", "sizes = x.abs_()")],
        check="test_strides",
        says="changes",
    ),
    Wrong(
        "does not look whether a range is one",
        edits=[(UPSIDE, "    if smallest <= 0:\n")],
        check="test_errors",
        says="no error",
    ),
    Wrong(
        "the widest dtype where none holds the numbers",
        edits=[
            (
                '    raise ValueError(f"no dtype holds {smallest:g} to {largest:g} within {error:g}")\n',
                "    return FLOATS[-1]\n",
            )
        ],
        check="test_errors",
        says="no error",
    ),
    Wrong(
        "brings the column to the CPU",
        edits=[(LAST, LAST.replace("x.to(", "x.cpu().to("))],
        check="test_on_a_device",
    ),
    Works(
        "straight from the rules, for columns that hold numbers",
        code="""
import torch

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)

def float_for(smallest, largest, error):
    for dtype in FLOATS:
        info = torch.finfo(dtype)
        if smallest >= info.smallest_normal and largest <= info.max and error >= info.eps / 2:
            return dtype
    raise ValueError("no dtype")

def int_for(low, high):
    for dtype in INTEGERS:
        info = torch.iinfo(dtype)
        if low >= info.min and high <= info.max:
            return dtype
    raise ValueError("no dtype")

def compact(x, error):
    if x.is_floating_point():
        nonzero = x[x != 0].abs()
        return x.to(float_for(nonzero.min(), nonzero.max(), error))
    return x.to(int_for(x.min(), x.max()))
""",
    ),
    Works(
        "as people shrink a pandas frame: if and elif, and float64 for what is left",
        code="""
import torch

def float_for(smallest, largest, error):
    if 6.103515625e-05 <= smallest and largest <= 65504 and error >= 2 ** -11:
        return torch.float16
    if smallest >= torch.finfo(torch.bfloat16).tiny:
        if largest <= torch.finfo(torch.bfloat16).max and error >= 2 ** -8:
            return torch.bfloat16
        if largest <= torch.finfo(torch.float32).max and error >= 2 ** -24:
            return torch.float32
    return torch.float64

def int_for(low, high):
    if low >= 0 and high <= 255:
        return torch.uint8
    elif low >= -128 and high <= 127:
        return torch.int8
    elif low >= -2**15 and high < 2**15:
        return torch.int16
    elif low >= -2**31 and high < 2**31:
        return torch.int32
    return torch.int64

def compact(x, error):
    if x.dtype in (torch.float64, torch.float32):
        sizes = [abs(v) for v in x.flatten().tolist() if v]
        return x.to(float_for(min(sizes), max(sizes), error))
    return x.to(int_for(x.min().item(), x.max().item()))
""",
    ),
    Right(
        "a list of what fits, tiny, aminmax",
        code="""
import torch
from math import isinf

_F = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
_I = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]


def _pick(fits, candidates):
    found = [d for d in candidates if fits(d)]
    if not found:
        raise ValueError("none of them holds the numbers")
    return found[0]


def float_for(smallest, largest, error):
    if isinf(largest) or smallest > largest or smallest <= 0:
        raise ValueError("bad range")

    def fits(d):
        f = torch.finfo(d)
        return smallest >= f.tiny and largest <= -f.min and 2 * error >= f.eps

    return _pick(fits, _F)


def int_for(low, high):
    if high < low:
        raise ValueError("bad range")
    return _pick(lambda d: all(torch.iinfo(d).min <= n <= torch.iinfo(d).max for n in (low, high)), _I)


def compact(x, error):
    if x.dtype is torch.bool:
        return x.clone()
    if x.dtype in _I:
        if x.nelement() == 0:
            return x.to(_I[0])
        low, high = torch.aminmax(x)
        return x.type(int_for(low.item(), high.item()))
    keep = torch.isfinite(x) & x.ne(0)
    if keep.any():
        sizes = torch.masked_select(x, keep).double().abs()
        return x.to(float_for(float(sizes.amin()), float(sizes.amax()), error))
    return x.half()
""",
    ),
    Right(
        "sorted sizes, in NumPy",
        edits=[
            (
                SIZES,
                "    import numpy\n"
                "    sizes = numpy.sort(sizes.detach().cpu().double().numpy().ravel())\n"
                "    sizes = sizes[numpy.isfinite(sizes) & (sizes > 0)]\n",
            ),
            ("if not sizes.numel():", "if not sizes.size:"),
            (LAST, "return x.to(float_for(sizes[0], sizes[-1], error))"),
        ],
    ),
]
