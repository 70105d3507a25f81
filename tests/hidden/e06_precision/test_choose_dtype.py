"""What grades choose_dtype: range, digits, integers, columns; numbers that do not count, errors."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_raises, unchanged

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


def first_int(low, high):
    fits = [d for d in INTEGERS if torch.iinfo(d).min <= low and high <= torch.iinfo(d).max]
    return fits[0] if fits else None


MISTAKES = {
    "`min` is the most negative number, not the smallest size: small numbers are not refused": {
        "least": "min"
    },
    "eps is no size: the smallest one with all its digits is smallest_normal": {"least": "eps"},
    "the largest number is not looked at": {"short": False},
    "the digits are not looked at": {"coarse": False},
    "eps is the distance to the next number: rounding is off by half of it at most": {"half": 1.0},
}


def expect_float(answer, smallest, largest, error):
    mistakes = {
        told: lambda m=mistake: first_float(smallest, largest, error, **m)
        for told, mistake in MISTAKES.items()
    }
    call = f"float_for({smallest!r}, {largest!r}, {error!r})"
    wanted = first_float(smallest, largest, error)
    expect_equal(answer.float_for(smallest, largest, error), wanted, call, suspects=mistakes)


def column(gen, smallest, largest):
    """Numbers of all sizes from smallest to largest, the largest a negative one."""
    exponent = torch.rand(40, generator=gen, dtype=DOUBLE) * math.log(largest / smallest)
    sizes = (smallest * exponent.exp()).clamp(smallest, largest)
    sizes[3], sizes[7] = smallest, largest
    sign = torch.randint(0, 2, (40,), generator=gen) * 2 - 1
    sign[7] = -1
    return (sizes * sign).view(5, 8)


def test_largest(answer):
    """A dtype ends at its largest number, and holds that one."""
    for largest in (65504.0, 65505.0, 3.5e38, torch.finfo(SINGLE).max):
        for error in (1e-2, 1e-3):
            expect_float(answer, 1.0, largest, error)


def test_smallest(answer):
    """A dtype begins at its smallest normal number: below it, digits are lost."""
    for smallest in (2.0**-14, 6.1e-5, 1e-7, 2.0**-126, 1e-39):
        for error in (1e-2, 1e-3):
            expect_float(answer, smallest, 1.0, error)


def test_digits(answer):
    """Rounding makes a relative error of half the eps, which `error` may just allow."""
    for error in (2.0**-11, 4e-4, 2.0**-24, 5e-8, 2.0**-53):
        expect_float(answer, 1.0, 2.0, error)
    for error in (0.0039, 0.00391, 0.006):  # bfloat16 is good for 0.00390625
        expect_float(answer, 1.0, 7e4, error)


def test_integers(answer):
    """An integer dtype holds its ends, and not one number more on either side."""
    mistakes = {
        "the ends are left out": lambda low, high: first_int(low - 1, high + 1),
        "only the upper end is looked at": lambda low, high: first_int(0, high),
        "sizes decide, without the sign": lambda low, high: first_int(0, max(abs(low), abs(high))),
    }
    for dtype in INTEGERS:
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        for a, b in ((low, high), (low, 0), (0, high), (low - 1, 0), (-1, high + 1), (0, high + 1)):
            if first_int(a, b):
                told = {text: lambda f=f, a=a, b=b: f(a, b) for text, f in mistakes.items()}
                expect_equal(answer.int_for(a, b), first_int(a, b), f"int_for({a}, {b})", suspects=told)


@pytest.mark.parametrize(
    ("smallest", "largest", "error", "wanted"),
    [
        (1e-4, 6e4, 1e-3, HALF),
        (1e-4, 7e4, 1e-2, BRAIN),
        (1e-6, 1.0, 1e-2, BRAIN),
        (1e-6, 1.0, 1e-3, SINGLE),
        (1e-30, 1e30, 1e-9, DOUBLE),
        (1.0, 1e60, 1e-2, DOUBLE),
    ],
)
def test_columns(answer, gen, smallest, largest, error, wanted):
    """A column of floats goes into the dtype for its smallest and its largest size."""
    x = column(gen, smallest, largest)
    x[2, 2] = 0.0
    mistakes = {
        "negative numbers do not count": lambda: x.to(first_float(x[x > 0].min(), x.max(), error)),
        "the sign counts: the least number is taken for the smallest size": lambda: x.to(
            first_float(smallest, x.max(), error)
        ),
    }
    call = f"compact(x, error={error}) of sizes from {smallest:g} to {largest:g}"
    expect_equal(answer.compact(x, error), x.to(wanted), call, suspects=mistakes)


def test_integer_columns(answer):
    """A column of integers goes into the dtype for its least and its greatest number."""
    for numbers in ([0, 255], [-128, 127], [-129, 5], [2**31 - 1, 0], [2**31, 7], [-7, 200], [0, 0]):
        x = torch.tensor([numbers, numbers[::-1]])
        call = f"compact({numbers}, 0.001)"
        mistakes = {
            "sizes decide, without the sign": lambda x=x: x.to(first_int(0, int(x.abs().max()))),
            "the integers become floats": lambda x=x: x.half(),
        }
        expect_equal(answer.compact(x, 0.001), x.to(first_int(*sorted(numbers))), call, suspects=mistakes)


@pytest.mark.fine
def test_inf_and_nan(answer):
    """inf and NaN do not count, and come back."""
    some = [0.0, math.inf, -math.inf, math.nan]
    for numbers, error, wanted in (([*some, 3.0, -0.5], 1e-3, HALF), ([*some, 1e5, -1e-5], 1e-3, SINGLE)):
        x = torch.tensor(numbers, dtype=DOUBLE)
        expect_equal(answer.compact(x, error), x.to(wanted), f"compact({numbers}, {error})")


@pytest.mark.fine
def test_nothing_that_counts(answer):
    """Without any number but 0 the first dtype is taken, and booleans stay."""
    for x, wanted in (
        (torch.zeros(2, 3), HALF),
        (torch.zeros(0, 3, dtype=DOUBLE), HALF),
        (torch.tensor([], dtype=torch.int64), torch.uint8),
        (torch.tensor([True, False]), torch.bool),
    ):
        expect_equal(answer.compact(x, 1e-3), x.to(wanted), f"compact(x, 0.001) of {x.tolist()}")


@pytest.mark.fine
def test_large_integers(answer):
    """Integers are told apart exactly, where float32 and float64 cannot."""
    for number, wanted in ((2**31 - 1, torch.int32), (2**63 - 1, torch.int64)):
        x = torch.tensor([number, 1])
        expect_equal(answer.compact(x, 0.1), x.to(wanted), f"compact([{number}, 1], 0.1)")


@pytest.mark.fine
def test_strides(answer, gen):
    """Transposed columns and parts of them are treated like any others, and stay as they are."""
    x = column(gen, 1e-4, 7e4)
    for y in (x.t(), x[:, ::7], x[0, 3]):
        call = f"compact(x, 0.01) of shape {tuple(y.shape)}"
        found = first_float(y.abs().min().item(), y.abs().max().item(), 0.01)
        with unchanged(call, x=x):
            expect_equal(answer.compact(y, 0.01), y.to(found), call)


@pytest.mark.fine
def test_errors(answer):
    """Numbers that no dtype holds, and ranges that are none, raise ValueError."""
    for smallest, largest, error in (
        (1.0, 2.0, 1e-17),
        (2.0, 1.0, 0.1),
        (0.0, 1.0, 0.1),
        (1.0, math.inf, 0.1),
    ):
        call = f"float_for({smallest}, {largest}, {error})"
        expect_raises(ValueError, lambda a=smallest, b=largest, e=error: answer.float_for(a, b, e), call)
    expect_raises(ValueError, lambda: answer.int_for(5, 4), "int_for(5, 4)")
    expect_raises(ValueError, lambda: answer.int_for(0, 2**63), "int_for(0, 2**63)")


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
