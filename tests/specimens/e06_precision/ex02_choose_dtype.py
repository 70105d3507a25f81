"""Answers to choose_dtype that people write."""

from grader.authoring.specimen import Right, Wrong

HOLDS = "if info.smallest_normal <= smallest and largest <= info.max and info.eps / 2 <= error:"
LOOP = "    for dtype in candidates:\n        info = torch.finfo(dtype)\n"
FITS = "if info.min <= low and high <= info.max:"
SIZES = "    sizes = sizes[(sizes > 0) & (sizes < math.inf)]  # (elements that count,)\n"
ENDS = "low, high = (int(x.min()), int(x.max())) if x.numel() else (0, 0)"
LAST = "return x.to(float_for(sizes.min().item(), sizes.max().item(), error))"
UPSIDE = "    if not 0 < smallest <= largest < math.inf:\n"
CHECK_INT = '    if low > high:\n        raise ValueError(f"need low <= high, not {low} and {high}")\n'


def holds(text):
    return [(HOLDS, f"if {text}:")]


SPECIMENS = [
    Wrong(
        "converts, and looks whether the numbers are still finite",
        edits=[
            (
                LAST,
                "low = sizes.min().item()\n"
                "    for dtype in FLOATS:\n"
                "        info = torch.finfo(dtype)\n"
                "        if sizes.to(dtype).isfinite().all() and low >= info.tiny and info.eps / 2 <= error:\n"
                "            return x.to(dtype)\n"
                '    raise ValueError("no dtype holds these numbers")',
            )
        ],
        check="test_from_any_float",
        says="65510",
    ),
    Wrong(
        "adds 0 for a copy, which makes 0.0 of -0.0",
        edits=[(LAST, LAST.replace("x.to(", "(x + 0).to("))],
        check="test_zero_inf_and_nan",
        says="signbit",
    ),
    Wrong(
        "the distance to the next number for the error",
        edits=[("info.eps / 2 <= error", "info.eps <= error")],
        check="test_precision",
    ),
    Wrong("the decimal resolution", edits=[("info.eps / 2", "info.resolution")], check="test_precision"),
    Wrong(
        "half an eps too strict",
        edits=[("info.eps / 2 <= error", "info.eps / 2 < error")],
        check="test_precision",
    ),
    Wrong(
        "min, which is the most negative number, for the smallest size",
        edits=[("info.smallest_normal <= smallest", "info.min <= smallest")],
        check="test_smallest",
    ),
    Wrong(
        "lets subnormals pass",
        edits=[("info.smallest_normal <= smallest", "info.smallest_normal * info.eps <= smallest")],
        check="test_smallest",
        says="torch.float16",
    ),
    Wrong(
        "eps for the smallest number",
        edits=[("info.smallest_normal <= smallest", "info.eps <= smallest")],
        check="test_smallest",
    ),
    Wrong(
        "the smallest normal number is out",
        edits=[("info.smallest_normal <= smallest", "info.smallest_normal < smallest")],
        check="test_smallest",
    ),
    Wrong(
        "the largest number is out",
        edits=[("largest <= info.max", "largest < info.max")],
        check="test_largest",
    ),
    Wrong(
        "looks at the range only",
        edits=holds("info.smallest_normal <= smallest and largest <= info.max"),
        check="test_precision",
    ),
    Wrong("looks at the precision only", edits=holds("info.eps / 2 <= error"), check="test_largest"),
    Wrong(
        "forgets underflow",
        edits=holds("largest <= info.max and info.eps / 2 <= error"),
        check="test_smallest",
    ),
    Wrong(
        "rounds before it compares",
        edits=[("largest <= info.max", "torch.tensor(largest, dtype=dtype).isfinite()")],
        check="test_largest",
    ),
    Wrong(
        "tries a number",
        edits=holds(
            "largest <= info.max and smallest >= info.smallest_normal and abs(torch.tensor(smallest, dtype=dtype).item() - smallest) <= error * smallest"
        ),
        check="test_precision",
    ),
    Wrong(
        "a table of its own",
        edits=[
            (
                LOOP,
                "    table = {torch.float16: (6.103515625e-05, 65504.0, 2**-11), torch.bfloat16: (2.0**-126, 3.38953139e38, 2**-8)}\n"
                "    for dtype in candidates:\n"
                "        info = torch.finfo(dtype)\n"
                "        if dtype in table:\n"
                "            low, high, error_ = table[dtype]\n"
                "            if low <= smallest and largest <= high and error_ <= error:\n"
                "                return dtype\n"
                "            continue\n",
            )
        ],
        check="test_largest",
    ),
    Wrong(
        "ignores the candidates",
        edits=[(LOOP, LOOP.replace("candidates", "FLOATS"))],
        check="test_order_of_candidates",
    ),
    Wrong(
        "ignores the integer candidates",
        edits=[
            (
                "    for dtype in candidates:\n        info = torch.iinfo(dtype)\n",
                "    for dtype in INTEGERS:\n        info = torch.iinfo(dtype)\n",
            )
        ],
        check="test_order_of_candidates",
    ),
    Wrong(
        "the smallest dtype, whatever the order",
        edits=[(LOOP, LOOP.replace("in candidates", "in sorted(candidates, key=lambda d: d.itemsize)"))],
        check="test_order_of_candidates",
    ),
    Wrong(
        "the smallest integer dtype, whatever the order",
        edits=[
            (
                "    for dtype in candidates:\n        info = torch.iinfo(dtype)\n",
                "    for dtype in sorted(candidates, key=lambda d: d.itemsize):\n        info = torch.iinfo(dtype)\n",
            )
        ],
        check="test_order_of_candidates",
    ),
    Wrong(
        "the most precise that holds the range",
        edits=[
            (
                LOOP,
                LOOP.replace(
                    "in candidates", "in sorted(candidates, key=lambda d: (d.itemsize, torch.finfo(d).eps))"
                ),
            )
        ],
        check="test_order_of_candidates",
    ),
    Wrong(
        "integers by their size",
        edits=[(FITS, "if max(abs(low), abs(high)) <= info.max and (info.min < 0 or low >= 0):")],
        check="test_ends_of_integers",
    ),
    Wrong(
        "the upper end is out",
        edits=[(FITS, "if info.min <= low and high < info.max:")],
        check="test_ends_of_integers",
    ),
    Wrong(
        "only the upper end",
        edits=[(FITS, "if high <= info.max and (low >= 0 or info.min < 0):")],
        check="test_ends_of_integers",
    ),
    Wrong(
        "no unsigned integers",
        edits=[("INTEGERS = (torch.uint8, ", "INTEGERS = (")],
        check="test_ends_of_integers",
    ),
    Wrong(
        "integers through floats",
        edits=[(ENDS, "low, high = (int(x.float().min()), int(x.float().max())) if x.numel() else (0, 0)")],
        check="test_integer_columns",
    ),
    Wrong(
        "integers by their largest size",
        edits=[
            (
                ENDS,
                "low, high = (-int(x.abs().max()) if bool((x < 0).any()) else 0, int(x.abs().max())) if x.numel() else (0, 0)",
            )
        ],
        check="test_integer_columns",
    ),
    Wrong(
        "integer columns as floats",
        edits=[
            ("    if not x.is_floating_point():\n", "    if not x.is_floating_point() and x.numel() == 0:\n"),
            ("sizes = x.abs()", "sizes = x.double().abs()"),
        ],
        check="test_integer_columns",
    ),
    Wrong(
        "booleans as integers",
        edits=[
            (
                "    if x.dtype == torch.bool:\n        return x\n",
                "    if x.dtype == torch.bool:\n        x = x.to(torch.uint8)\n",
            )
        ],
        check="test_integer_columns",
    ),
    Wrong(
        "no empty integer columns",
        edits=[(ENDS, "low, high = int(x.min()), int(x.max())")],
        check="test_integer_columns",
    ),
    Wrong(
        "zero counts",
        edits=[("sizes[(sizes > 0) & (sizes < math.inf)]", "sizes[sizes < math.inf]")],
        check="test_zero_inf_and_nan",
    ),
    Wrong(
        "inf counts",
        edits=[("sizes[(sizes > 0) & (sizes < math.inf)]", "sizes[sizes > 0]")],
        check="test_zero_inf_and_nan",
    ),
    Wrong(
        "NaN counts",
        edits=[("sizes[(sizes > 0) & (sizes < math.inf)]", "sizes[(sizes != 0) & ~sizes.isinf()]")],
        check="test_zero_inf_and_nan",
    ),
    Wrong(
        "drops inf and NaN",
        edits=[("return x.to(float_for(sizes", "return x.nan_to_num().to(float_for(sizes")],
        check="test_zero_inf_and_nan",
    ),
    Wrong(
        "refuses columns without numbers",
        edits=[("        return x.to(FLOATS[0])\n", "        raise ValueError('no numbers')\n")],
        check="test_zero_inf_and_nan",
    ),
    Wrong(
        "leaves columns without numbers as they are",
        edits=[("        return x.to(FLOATS[0])\n", "        return x\n")],
        check="test_zero_inf_and_nan",
    ),
    Wrong("negative numbers do not count", edits=[("sizes = x.abs()", "sizes = x")], check="test_columns"),
    Wrong(
        "looks at the first numbers only",
        edits=[("sizes = x.abs()", "sizes = x.flatten()[:6].abs()")],
        check="test_columns",
    ),
    Wrong("an error of its own", edits=[(LAST, LAST.replace("error", "1e-3"))], check="test_columns"),
    Wrong(
        "measures in float32", edits=[("sizes = x.abs()", "sizes = x.float().abs()")], check="test_columns"
    ),
    Wrong(
        "the mean for the size",
        edits=[(LAST, LAST.replace("sizes.max()", "sizes.mean()").replace("sizes.min()", "sizes.mean()"))],
        check="test_columns",
    ),
    Wrong(
        "never wider than it was",
        edits=[
            (
                LAST,
                "dtype = float_for(sizes.min().item(), sizes.max().item(), error)\n    return x if dtype.itemsize >= x.dtype.itemsize else x.to(dtype)",
            )
        ],
        check="test_from_any_float",
    ),
    Wrong(
        "flattens",
        edits=[(LAST, LAST.replace("x.to(", "x.flatten().to("))],
        check="test_columns",
        says="shape",
    ),
    Wrong(
        "converts through float16",
        edits=[(LAST, LAST.replace("x.to(", "x.half().to("))],
        check="test_columns",
    ),
    Wrong("writes to the column", edits=[("sizes = x.abs()", "sizes = x.abs_()")], check="test_columns"),
    Wrong(
        "brings the column to the CPU",
        edits=[(LAST, LAST.replace("x.to(", "x.cpu().to("))],
        check="test_on_a_device",
    ),
    Wrong(
        "the largest dtype where none holds the numbers",
        edits=[
            (
                '    raise ValueError(f"no candidate holds {smallest:g} to {largest:g} within {error:g}")\n',
                "    return torch.float64\n",
            )
        ],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "int64 where none holds the integers",
        edits=[('    raise ValueError(f"no candidate holds {low} to {high}")\n', "    return torch.int64\n")],
        check="test_bad_input",
        says="no error",
    ),
    Wrong("does not look at the ends", edits=[(UPSIDE, "    if smallest <= 0:\n")], check="test_bad_input"),
    Wrong(
        "takes zero for a size",
        edits=[
            (UPSIDE, "    if not 0 <= smallest <= largest < math.inf:\n"),
            ("info.smallest_normal <= smallest", "(info.smallest_normal <= smallest or smallest == 0)"),
        ],
        check="test_bad_input",
    ),
    Wrong(
        "NaN slips through",
        edits=[
            (UPSIDE, "    if smallest <= 0 or smallest > largest or largest == math.inf:\n"),
            (
                "info.smallest_normal <= smallest and largest <= info.max",
                "not smallest < info.smallest_normal and not largest > info.max",
            ),
        ],
        check="test_bad_input",
    ),
    Wrong(
        "does not look at the ends of integers",
        edits=[(CHECK_INT, "")],
        check="test_bad_input",
        says="no error",
    ),
    Wrong(
        "integers through a tensor",
        edits=[(CHECK_INT, CHECK_INT + "    torch.tensor([low, high])\n")],
        check="test_order_of_candidates",
    ),
    Wrong(
        "asserts",
        edits=[(UPSIDE, "    assert 0 < smallest <= largest < math.inf\n    if False:\n")],
        check="test_bad_input",
        says="AssertionError",
    ),
    Right(
        "next over a generator, tiny, aminmax",
        code="""
import torch
from math import isinf, isnan

_F = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
_I = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]


def _pick(fits, candidates):
    found = [d for d in candidates if fits(d)]
    if not found:
        raise ValueError("none of them holds the numbers")
    return found[0]


def float_for(smallest, largest, error, candidates=_F):
    if isnan(smallest) or isnan(largest) or isinf(largest) or smallest > largest or smallest <= 0:
        raise ValueError("bad range")

    def fits(d):
        f = torch.finfo(d)
        return smallest >= f.tiny and largest <= -f.min and 2 * error >= f.eps

    return _pick(fits, candidates)


def int_for(low, high, candidates=_I):
    if high < low:
        raise ValueError("bad range")
    return _pick(lambda d: all(torch.iinfo(d).min <= n <= torch.iinfo(d).max for n in (low, high)), candidates)


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
                "    import numpy\n    sizes = numpy.sort(sizes.detach().cpu().double().numpy().ravel())\n    sizes = sizes[numpy.isfinite(sizes) & (sizes > 0)]\n",
            ),
            ("if not sizes.numel():", "if not sizes.size:"),
            (LAST, "return x.to(float_for(sizes[0], sizes[-1], error))"),
        ],
    ),
    Wrong(
        "an error of 0 is no good for integers either",
        edits=[
            (
                "        low, high = (int(",
                "        if error <= 0:\n            raise ValueError(error)\n        low, high = (int(",
            )
        ],
        check="test_integer_columns",
        says="ValueError",
    ),
    Wrong(
        "looks at the first 1024 numbers",
        edits=[("    sizes = x.abs()\n", "    sizes = x.flatten()[:1024].abs()\n")],
        check="test_columns",
        says="3040 numbers",
    ),
    Wrong(
        "leaves out zeros among integers as well, and nothing is left",
        edits=[
            (
                "if x.numel() else (0, 0)",
                "if x.numel() else (0, 0)\n        low, high = int(x[x != 0].min()), int(x[x != 0].max())",
            )
        ],
        check="test_integer_columns",
    ),
    Wrong(
        "takes an error of 0 for none given",
        edits=holds(
            "info.smallest_normal <= smallest and largest <= info.max and info.eps / 2 <= (error or 1)"
        ),
        check="test_bad_input",
        says="float_for(1, 2, 0.0)",
    ),
]
