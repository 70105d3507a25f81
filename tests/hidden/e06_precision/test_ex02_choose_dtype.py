"""What grades choose_dtype: the range, precision, order of candidates, columns, errors."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that, unchanged
from grader.checks.rounding import expect_rounded

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
INFO = {dtype: torch.finfo(dtype) for dtype in (HALF, BRAIN, SINGLE, DOUBLE, E4M3, E5M2)}
LOOSE = 0.5


def expect_float(answer, smallest, largest, error, wanted, *candidates):
    given = (candidates,) if candidates else ()
    call = f"float_for({smallest!r}, {largest!r}, {error!r}{', candidates' if candidates else ''})"
    expect_equal(answer.float_for(smallest, largest, error, *given), wanted, call)


def test_largest(answer):
    """A dtype ends at its largest number, and holds that one."""
    for dtype, after in ((HALF, BRAIN), (E4M3, E5M2), (SINGLE, DOUBLE), (BRAIN, DOUBLE)):
        end = INFO[dtype].max
        expect_float(answer, 1.0, end, LOOSE, dtype, dtype, after)
        expect_float(answer, 1.0, math.nextafter(end, math.inf), LOOSE, after, dtype, after)
    expect_float(answer, 1.0, 65504.0, 1e-3, HALF)
    expect_float(answer, 1.0, 65505.0, 1e-2, BRAIN)
    expect_float(answer, 1.0, 1e39, 1e-3, DOUBLE)
    expect_float(answer, 65504.0, 65504.0, 1e-3, HALF)


def test_smallest(answer):
    """A dtype begins at its smallest normal number: subnormals have lost digits, though they are not zero."""
    for dtype, after in ((HALF, BRAIN), (E4M3, E5M2), (SINGLE, DOUBLE), (BRAIN, DOUBLE)):
        end = INFO[dtype].smallest_normal
        expect_float(answer, end, 1.0, LOOSE, dtype, dtype, after)
        expect_float(answer, math.nextafter(end, 0), 1.0, LOOSE, after, dtype, after)
    expect_float(answer, 6e-5, 1.0, 1e-2, BRAIN)
    expect_float(answer, 1e-39, 1.0, 1e-2, DOUBLE)
    expect_float(answer, 1e-4, 1e-4, 1e-2, HALF)


def test_precision(answer):
    """Rounding to nearest makes a relative error of half the eps, which error may just allow."""
    for dtype, after in ((HALF, SINGLE), (BRAIN, HALF), (E5M2, E4M3), (SINGLE, DOUBLE)):
        half = INFO[dtype].eps / 2
        expect_float(answer, 1.0, 2.0, half, dtype, dtype, after)
        expect_float(answer, 1.0, 2.0, half * 0.999, after, dtype, after)
    expect_float(answer, 1.0, 7e4, 0.0039, SINGLE)
    expect_float(answer, 1.0, 7e4, 0.00391, BRAIN)
    expect_float(answer, 1.0, 2.0, 2.0**-53, DOUBLE)


def test_order_of_candidates(answer):
    """The first candidate that holds the numbers is taken, whatever its size and whatever comes later."""
    expect_float(answer, 1.0, 2.0, LOOSE, DOUBLE, DOUBLE, HALF)
    expect_float(answer, 1.0, 2.0, 1e-2, BRAIN, BRAIN, HALF, SINGLE)
    expect_float(answer, 1.0, 2.0, 1e-3, SINGLE, BRAIN, SINGLE, HALF)
    expect_float(answer, 1.0, 300.0, 0.1, E4M3, E4M3, BRAIN)
    expect_equal(
        answer.float_for(1.0, 2.0, 0.1, candidates=[SINGLE]), SINGLE, "float_for(…, [torch.float32])"
    )
    expect_equal(answer.int_for(0, 9, (torch.int64, torch.int8)), torch.int64, "int_for(0, 9, (int64, int8))")
    wide = [torch.int8, torch.uint16, torch.int32]
    expect_equal(answer.int_for(0, 40000, candidates=wide), torch.uint16, "int_for(0, 40000, candidates)")
    expect_equal(
        answer.int_for(0, 2**64 - 1, [torch.int64, torch.uint64]), torch.uint64, "int_for(0, 2**64 - 1, …)"
    )


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_ends_of_integers(answer, dtype):
    """An integer dtype holds its ends, and not one number more on either side."""
    info, wider = torch.iinfo(dtype), (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
    low, high = info.min, info.max
    for a, b in ((low, high), (low, low), (max(low, -1), high), (high, high)):
        wanted = next(d for d in wider if torch.iinfo(d).min <= a and b <= torch.iinfo(d).max)
        expect_equal(answer.int_for(a, b), wanted, f"int_for({a}, {b})")
        expect_equal(answer.int_for(a, b, (dtype,)), dtype, f"int_for({a}, {b}, ({dtype},))")
    for a, b in ((low - 1, high), (low, high + 1), (high + 1, high + 1), (low - 1, low - 1)):
        expect_raises(ValueError, lambda a=a, b=b: answer.int_for(a, b, (dtype,)), f"int_for({a}, {b}, …)")


def column(gen, smallest, largest):
    """Numbers of all sizes from smallest to largest, of both signs, with the ends among them."""
    exponent = torch.rand(40, generator=gen, dtype=DOUBLE) * math.log(largest / smallest)
    sizes = (smallest * exponent.exp()).clamp(smallest, largest)
    sizes[3], sizes[7] = smallest, largest
    sign = torch.randint(0, 2, (40,), generator=gen) * 2 - 1
    sign[7] = -1
    return (sizes * sign).view(5, 8)


@pytest.mark.parametrize(
    ("smallest", "largest", "error", "wanted"),
    [
        (1e-4, 6e4, 1e-3, HALF),
        (1e-4, 6e4, 1e-2, HALF),
        (1e-4, 7e4, 1e-2, BRAIN),
        (1e-6, 1.0, 1e-2, BRAIN),
        (1e-6, 1.0, 1e-3, SINGLE),
        (1e-30, 1e30, 1e-5, SINGLE),
        (1e-30, 1e30, 1e-9, DOUBLE),
        (1e-60, 1.0, 1e-2, DOUBLE),
        (1.0, 1e60, 1e-2, DOUBLE),
    ],
)
def test_columns(answer, gen, smallest, largest, error, wanted):
    """A column comes back in the dtype of its range, and each number within the error of a float64 run."""
    x = column(gen, smallest, largest)
    long = torch.cat([torch.ones(3000, dtype=DOUBLE), x.flatten()])
    for y in (x, x.t(), x[:, ::7], x.flatten()[3:8], long):
        call = f"compact(x, error={error}) of {y.numel()} numbers, {smallest:g} to {largest:g}"
        with unchanged(call, x=x):
            yours = answer.compact(y, error)
        expect_rounded(yours, y, wanted, call)
        off = float(((yours.double() - y) / y).abs().max())
        expect_that(off <= error, f"{call} is less precise than asked for", yours=f"{off:.2g}", wanted=error)


def test_zero_inf_and_nan(answer):
    """Zero, inf and NaN are in every floating dtype: they do not count, and come back."""
    some = [0.0, -0.0, math.inf, -math.inf, math.nan]
    for numbers, error, wanted in (
        ([*some, 3.0, -0.5], 1e-3, HALF),
        ([*some, 1e5], 1e-2, BRAIN),
        ([*some, 1e5, -1e-5], 1e-3, SINGLE),
        (some, 1e-30, HALF),
        ([0.0, 0.0], 1e-3, HALF),
        ([math.nan], 1e-3, HALF),
        ([-math.inf, -math.inf], 1e-3, HALF),
    ):
        for dtype in (SINGLE, DOUBLE):
            x = torch.tensor(numbers, dtype=dtype)
            expect_equal(answer.compact(x, error), x.to(wanted), f"compact({numbers}, {error}) from {dtype}")
    signs = torch.signbit(answer.compact(torch.tensor([0.0, -0.0, 3.0]), 1e-3))
    expect_equal(signs, torch.tensor([False, True, False]), "torch.signbit(compact([0.0, -0.0, 3.0], 0.001))")


@pytest.mark.parametrize("dtype", [HALF, BRAIN, SINGLE, DOUBLE], ids=str)
def test_from_any_float(answer, dtype):
    """What decides are the numbers, not the dtype in which they come; also a wider one may be needed."""
    x = torch.tensor([[1.0, -2.0], [0.0, 1000.0]], dtype=dtype)
    expect_equal(answer.compact(x, 1e-3), x.half(), f"compact(x, 0.001) from {dtype}")
    small = torch.tensor([1.0, 2.0**-20], dtype=dtype)
    expect_equal(answer.compact(small, 1e-3), small.float(), f"compact(x, 0.001) of 2**-20 from {dtype}")
    expect_equal(answer.compact(small, 1e-2), small.bfloat16(), f"compact(x, 0.01) of 2**-20 from {dtype}")
    between = torch.tensor([1.0, 65510.0], dtype=dtype)  # which float16 would round down to its largest
    if dtype in (SINGLE, DOUBLE):
        expect_equal(
            answer.compact(between, 1e-3), between.float(), f"compact(x, 0.001) of 65510 from {dtype}"
        )
    for shape in ((), (0,), (2, 0, 3), (1, 1)):
        empty = torch.full(shape, 2.5, dtype=dtype)
        expect_equal(answer.compact(empty, 1e-3), empty.half(), f"compact(x, 0.001) of shape {shape}")


def test_integer_columns(answer):
    """Integers go into the first integer dtype that holds them, exactly, and booleans stay."""
    kinds = {
        torch.uint8: [0, 255],
        torch.int8: [-128, 127],
        torch.int16: [-129, 5],
        torch.int32: [2**31 - 1, 0],
        torch.int64: [-(2**63), 2**63 - 1],
    }
    for wanted, numbers in kinds.items():
        for error in (1e-9, 0.5):
            x = torch.tensor([numbers, numbers[::-1]])
            expect_equal(answer.compact(x, error), x.to(wanted), f"compact({numbers}, {error})")
    for numbers, wanted in (
        ([2**31], torch.int64),
        ([-(2**31) - 1, 7], torch.int64),
        ([2**53 + 1], torch.int64),
        ([7, 300], torch.int16),
        ([-7], torch.int8),
        ([-7, 200], torch.int16),
        (5, torch.uint8),
        ([0, 0], torch.uint8),
        ([], torch.uint8),
    ):
        x = torch.tensor(numbers, dtype=torch.int64)
        expect_equal(answer.compact(x, 0.1), x.to(wanted), f"compact({numbers}, 0.1)")
    for at in (7, 2999):
        x = torch.ones(3000, dtype=torch.int64)
        x[at] = -(2**31) - 1
        expect_equal(
            answer.compact(x, 0.1), x, f"compact(x, 0.1) of 3000 numbers, of which x[{at}] is the least"
        )
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32):
        x = torch.tensor([[3, 1, 0]], dtype=dtype)
        expect_equal(answer.compact(x, 0.0), x.to(torch.uint8), f"compact(x, 0.0) from {dtype}")
    high = torch.tensor([200, 255], dtype=torch.uint8)
    expect_equal(answer.compact(high, 0.1), high, "compact(x, 0.1) of uint8")
    for mask in (torch.tensor([True, False]), torch.tensor([], dtype=torch.bool)):
        expect_equal(answer.compact(mask, 0.1), mask, "compact(mask, 0.1)")


def test_bad_input(answer):
    """What no candidate holds raises ValueError, and so does a range that is none."""
    for smallest, largest in ((2.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (1.0, math.inf), (math.nan, 1.0)):
        call = f"float_for({smallest}, {largest}, 0.1)"
        expect_raises(ValueError, lambda a=smallest, b=largest: answer.float_for(a, b, 0.1), call)
    expect_raises(ValueError, lambda: answer.float_for(1.0, math.nan, 0.1), "float_for(1, nan, 0.1)")
    expect_raises(
        ValueError, lambda: answer.float_for(1.0, 1e5, 0.1, [HALF]), "float_for(1, 1e5, 0.1, [half])"
    )
    expect_raises(ValueError, lambda: answer.float_for(1.0, 2.0, 1e-17), "float_for(1, 2, 1e-17)")
    expect_raises(ValueError, lambda: answer.float_for(1.0, 2.0, 0.0), "float_for(1, 2, 0.0)")
    expect_raises(ValueError, lambda: answer.float_for(1.0, 2.0, 0.1, ()), "float_for(1, 2, 0.1, ())")
    expect_raises(ValueError, lambda: answer.int_for(5, 4), "int_for(5, 4)")
    expect_raises(ValueError, lambda: answer.int_for(0, 2**63), "int_for(0, 2**63)")
    expect_raises(ValueError, lambda: answer.int_for(-(10**30), 0), "int_for(-10**30, 0)")
    x = torch.tensor([1.0, 1e-310], dtype=DOUBLE)
    expect_raises(ValueError, lambda: answer.compact(x, 0.1), "compact(x, 0.1) of 1e-310")
    expect_raises(ValueError, lambda: answer.compact(x[:1], 1e-20), "compact(x, 1e-20)")


def test_on_a_device(answer, device):
    """A column on another device is converted there."""
    for x, wanted in (
        (torch.tensor([1.0, -7e4, 0.0]), BRAIN),
        (torch.tensor([3, -400]), torch.int16),
        (torch.tensor([], dtype=DOUBLE), HALF),
    ):
        yours = answer.compact(x.to(device), 1e-2)
        expect_equal(yours.dtype, wanted, "the dtype of compact(x, 0.01) on another device")
        expect_equal(yours.device.type, device.type, "the device of compact(x, 0.01) on another device")


def oracle(answer, gen):
    results = []
    for exponent in (1, 3, 6, 20, 50):
        x = column(gen, 10.0**-exponent, 10.0 ** (exponent - 1))
        for error in (1e-2, 1e-3, 1e-6):
            results.append(answer.compact(x, error))
            results.append(str(answer.float_for(10.0**-exponent, 10.0**exponent, error)))
        ids = torch.randint(-(10 ** min(exponent, 18)), 10 ** min(exponent, 18), (7,), generator=gen)
        results.append(answer.compact(ids, 0.1))
        results.append(str(answer.int_for(-int(ids.abs().max()), 100)))
    return results
