"""What grades choose_dtype: range, digits, integers, columns; numbers that do not count, errors."""

import math
from functools import partial

import pytest
import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, empties, errors, strides, untouched, values

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def first_float(smallest, largest, error, least="smallest_normal", half=0.5, short=True, coarse=True):
    """The rules of the statement; or with a mistake."""
    for dtype in (HALF, BRAIN, SINGLE, DOUBLE):
        info = torch.finfo(dtype)
        reaches = getattr(info, least) <= smallest and (largest <= info.max or not short)
        if reaches and (half * info.eps <= error or not coarse):
            return dtype
    return None


MISTAKES = {
    "`min` is the most negative number, not the smallest size: small numbers are not refused": {
        "least": "min"
    },
    "eps is no size: the smallest one with all its digits is smallest_normal": {"least": "eps"},
    "the largest number is not looked at": {"short": False},
    "the digits are not looked at": {"coarse": False},
    "eps is the distance to the next number: rounding is off by half of it at most": {"half": 1.0},
}


def first_int(low, high):
    fits = [d for d in INTEGERS if torch.iinfo(d).min <= low and high <= torch.iinfo(d).max]
    return fits[0] if fits else None


def around(dtype):
    """Ranges that just fit into an integer dtype, and that just do not."""
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    return [(low, high), (low, 0), (0, high), (low - 1, 0), (-1, high + 1), (0, high + 1)]


LARGEST, SMALLEST = (
    (65504.0, 65505.0, 3.5e38, torch.finfo(SINGLE).max),
    (2.0**-14, 6.1e-5, 1e-7, 2.0**-126, 1e-39),
)
ERRORS = (2.0**-11, 4e-4, 2.0**-24, 5e-8, 2.0**-53)

floats = Contract(
    "float_for(smallest, largest, error)",
    reference=first_float,
    inputs=lambda gen: [
        *((1.0, largest, error) for largest in LARGEST for error in (1e-2, 1e-3)),
        *((smallest, 1.0, error) for smallest in SMALLEST for error in (1e-2, 1e-3)),
        *((1.0, 2.0, error) for error in ERRORS),
        *((1.0, 7e4, error) for error in (0.0039, 0.00391, 0.006)),  # bfloat16 is good for 0.00390625
    ],
    suspects={told: partial(first_float, **mistake) for told, mistake in MISTAKES.items()},
    fine=[
        errors(
            ValueError,
            lambda gen: [(1.0, 2.0, 1e-17), (2.0, 1.0, 0.1), (0.0, 1.0, 0.1), (1.0, math.inf, 0.1)],
            title="Numbers that no dtype holds, and ranges that are none, raise ValueError.",
        )
    ],
)

integers = Contract(
    "int_for(low, high)",
    reference=first_int,
    inputs=lambda gen: [ends for d in INTEGERS for ends in around(d) if first_int(*ends)],
    suspects={
        "the ends are left out": lambda low, high: first_int(low - 1, high + 1),
        "only the upper end is looked at": lambda low, high: first_int(0, high),
        "sizes decide, without the sign": lambda low, high: first_int(0, max(abs(low), abs(high))),
    },
    fine=[errors(ValueError, lambda gen: [(5, 4), (0, 2**63)])],
)


def column(gen, smallest, largest):
    """Numbers of all sizes from smallest to largest, the largest a negative one, and a 0."""
    exponent = torch.rand(40, generator=gen, dtype=DOUBLE) * math.log(largest / smallest)
    sizes = (smallest * exponent.exp()).clamp(smallest, largest / 2)
    sizes[3], sizes[7], sizes[18] = smallest, largest, 0.0
    sign = torch.randint(0, 2, (40,), generator=gen) * 2 - 1
    sign[7] = -1
    return (sizes * sign).view(5, 8)


def converted(x, error, count=torch.abs, ends=torch.aminmax):
    """The column in the first dtype that holds what counts of it; or with a mistake."""
    if x.dtype is torch.bool:
        return x.clone()
    if not x.is_floating_point():
        return x.to(first_int(*(int(end) for end in ends(x))) if x.numel() else torch.uint8)
    sizes = count(x.double())
    sizes = sizes[(sizes > 0) & sizes.isfinite()]
    return x.to(first_float(sizes.min(), sizes.max(), error) if len(sizes) else HALF)


def of_integers(*columns):
    return [(torch.tensor([numbers, numbers[::-1]]), 1e-3) for numbers in columns]


NOTHING = torch.zeros(2, 3), torch.zeros(0, 3).double(), torch.zeros(0).long(), torch.tensor([True, False])
SOME = [0.0, math.inf, -math.inf, math.nan]
RANGES = (
    (1e-4, 6e4, 1e-3),
    (1e-4, 7e4, 1e-2),
    (1e-6, 1.0, 1e-2),
    (2e-6, 1.0, 1e-3),
    (1e-30, 1e30, 1e-9),
    (1.0, 1e60, 1e-2),
)

compact = Contract(
    "compact(x, error)",
    reference=converted,
    widens=False,
    ulps=0.0,
    inputs=lambda gen: {
        f"sizes from {low:g} to {high:g}": (column(gen, low, high), error) for low, high, error in RANGES
    },
    suspects={
        "0 counts as the smallest size": lambda x, error: x.clone(),
        "negative numbers do not count": partial(converted, count=torch.clone),
        "the sign counts: the least number is taken for the smallest size": lambda x, error: x.to(
            first_float(x.abs()[x != 0].min(), x.max(), error)
        ),
        "the sign counts, or eps stands for the smallest size": lambda x, error: x.float(),
        "sizes decide, without the sign": partial(converted, ends=lambda x: (0, x.abs().max())),
        "the integers become floats": lambda x, error: x.half(),
    },
    job=[
        values(
            inputs=lambda gen: of_integers(
                [0, 255], [-128, 127], [-129, 5], [2**31 - 1, 0], [2**31, 7], [-7, 200], [0, 0]
            ),
            name="integers",
            title="A column of integers goes into the dtype for its least and its greatest number.",
        )
    ],
    fine=[
        values(
            inputs=lambda gen: [
                (torch.tensor([*SOME, *more], dtype=DOUBLE), 1e-3) for more in ((3.0, -0.5), (1e5, -1e-5))
            ],
            name="inf_and_nan",
            title="inf and NaN do not count, and come back.",
        ),
        empties(
            inputs=lambda gen: [(x, 1e-3) for x in NOTHING],
            name="nothing_that_counts",
            title="Without any number but 0 the first dtype is taken, and booleans stay.",
        ),
        values(
            inputs=lambda gen: of_integers([2**31 - 1, 1], [2**63 - 1, 1]),
            name="large_integers",
            title="Integers are told apart exactly, where float32 and float64 cannot.",
        ),
        strides(inputs=lambda gen: [(column(gen, 1e-4, 7e4), 1e-2)]),
        untouched(),
    ],
)


@pytest.mark.fine
def test_on_a_device(answer, device):
    """A column on another device is converted there."""
    for x, wanted in ((torch.tensor([1.0, -7e4, 0.0]), BRAIN), (torch.tensor([3, -400]), torch.int16)):
        yours = answer.compact(x.to(device), 1e-2)
        expect_equal(yours.dtype, wanted, "the dtype of compact(x, 0.01) on another device")
        expect_equal(yours.device.type, device.type, "the device of compact(x, 0.01) on another device")


def oracle(answer, gen):
    sizes = [10.0**e for e in (40 * torch.rand(40, generator=gen, dtype=DOUBLE)).tolist()]
    errors = [10.0**-e for e in (1 + 7 * torch.rand(40, generator=gen, dtype=DOUBLE)).tolist()]
    ends = torch.randint(-(2**20), 2**20, (40,), generator=gen).tolist()
    floats = [column(gen, 1 / a, b) for a, b in zip(sizes[:4], sizes[4:8], strict=True)]
    integers = [torch.randint(-(2**n), 2**n, (9,), generator=gen) for n in (6, 10, 30, 40)]
    ranges = zip(sizes[::2], sizes[1::2], errors, strict=False)
    return {
        "float_for": lambda: [str(answer.float_for(1 / a, b, e)) for a, b, e in ranges],
        "int_for": lambda: [str(answer.int_for(min(0, n), max(100, n))) for n in ends],
        "columns of floats": lambda: [answer.compact(x, 1e-3) for x in floats],
        "columns of integers": lambda: [answer.compact(x, 1e-3) for x in integers],
    }
