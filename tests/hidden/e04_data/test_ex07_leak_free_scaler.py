"""What grades leak_free_scaler: leaks, missing numbers, columns that do not vary, digits, later rows."""

import math
from fractions import Fraction

import pytest
import torch

from grader.checks import expect_close, expect_copy, expect_equal, expect_raises, expect_that, unchanged

CALL = "prepare(table, test)"
NAMES = ("train", "test", "mean", "std")
INF, NAN = math.inf, math.nan


def statistics(column):
    """Mean and standard deviation of the numbers that are not missing, in exact arithmetic."""
    numbers = [Fraction(number) for number in column.double().tolist() if not math.isnan(number)]
    if not numbers:
        return 0.0, 1.0
    mean = sum(numbers) / len(numbers)
    variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
    root = Fraction(math.isqrt(int(variance * Fraction(10) ** 120)), 10**60)
    return float(mean), float(root) or 1.0


def scaled(rows, mean, std):
    return ((rows.double() - mean) / std).masked_fill(rows.isnan(), 0.0)


def reference(table, test):
    train = table[~test]
    pairs = [statistics(train[:, j]) for j in range(table.shape[1])]
    mean = torch.tensor([pair[0] for pair in pairs], dtype=torch.float64)
    std = torch.tensor([pair[1] for pair in pairs], dtype=torch.float64)
    return scaled(train, mean, std).to(table), scaled(table[test], mean, std).to(table), mean, std


def expect_columns(yours, wanted, call, size):
    """Compare column by column: each has a size of its own, by which rounding errors grow."""
    expect_that(isinstance(yours, torch.Tensor), f"{call} is no tensor", yours=yours)
    if yours.shape != wanted.shape or yours.dtype != wanted.dtype or wanted.shape[-1] == 0:
        expect_equal(yours, wanted, call, dims="rows columns" if wanted.dim() == 2 else "columns")
    for j in range(wanted.shape[-1]):
        expect_close(yours[..., j], wanted[..., j], f"{call}[..., {j}]", scale=size[j])


def expect_prepared(answer, table, test, note=""):
    wanted = reference(table, test)
    prepared = answer.prepare(table, test)
    for name in NAMES:
        expect_that(hasattr(prepared, name), f"{CALL} has no {name}", yours=prepared)
    std = wanted[3]
    largest = table[~test].double().abs().nan_to_num(0.0).amax(0)
    # Where a column lies far from 0, its numbers cancel: the mean is off by rounding errors of that size.
    off = (largest / std) * torch.finfo(torch.float64).eps / torch.finfo(table.dtype).eps
    for name, right in reversed(list(zip(NAMES, wanted, strict=True))):  # the statistics first
        if name in ("mean", "std"):
            size = largest.tolist()
        else:
            known = right.abs().masked_fill(~right.isfinite(), 0.0)
            size = (known.double().amax(0) if len(right) else off) + off
        expect_columns(getattr(prepared, name), right, f"{CALL}.{name}{note}", size)
    return prepared


def a_table(gen, rows, columns, dtype=torch.float32):
    numbers = torch.randn(rows, columns, generator=gen, dtype=torch.float64)
    return (numbers * torch.logspace(-2, 2, columns, dtype=torch.float64) + 3 * torch.arange(columns)).to(
        dtype
    )


def held_out(rows, *indices):
    test = torch.zeros(rows, dtype=torch.bool)
    test[list(indices)] = True
    return test


@pytest.mark.parametrize("out", [(5,), (0, 3, 4), (), (1, 2, 3, 4, 5, 6), (6, 5)], ids=str)
def test_any_split(answer, gen, out):
    """Whichever rows are held out, the others alone give the statistics; the order of the rows is kept."""
    for columns in (1, 4):
        expect_prepared(answer, a_table(gen, 7, columns), held_out(7, *out), f" without rows {out}")


@pytest.mark.parametrize("odd", [1e30, NAN, INF, -INF, 0.0])
def test_no_leak(answer, gen, odd):
    """Whatever stands in the test rows, mean, std and the training rows are the same, bit for bit."""
    table, test = a_table(gen, 8, 3), held_out(8, 2, 6)
    table[1, 1] = table[7, 0] = NAN
    plain = answer.prepare(table.clone(), test)
    table[2], table[6, 1] = odd, odd
    prepared = expect_prepared(answer, table, test, f" with {odd} in test rows")
    for name in ("train", "mean", "std"):
        same = torch.equal(getattr(prepared, name), getattr(plain, name))
        expect_that(same, f"{name} changes where test rows hold {odd}", wanted="what it is without them")


def test_missing_numbers(answer, gen):
    """Missing numbers count nowhere, and become 0 in train and in test."""
    table, test = a_table(gen, 9, 5), held_out(9, 0, 4)
    table[2, 0] = table[4, 0] = table[1, 1] = NAN
    table[6, 0] = table[7, 1] = 0.0  # not missing
    table[[1, 2, 3, 5, 6, 7], 2] = NAN  # one number is left
    table[[1, 2, 3, 5, 6, 7, 8], 3] = NAN  # none, but for the test rows
    table[:, 4] = NAN
    expect_prepared(answer, table, test, " with missing numbers")
    table[3] = table[8] = table[0] = NAN
    expect_prepared(answer, table, test, " with rows that are missing")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_columns_that_do_not_vary(answer, dtype):
    """A column whose training numbers are all the same is not scaled: exactly 0 in train, and std 1."""
    for count in (1, 3, 6, 7, 10, 49):
        row = torch.tensor([0.1, -7.3, 0.0, 1e6 / 3, 1e-5 / 3, 0.7], dtype=dtype)
        table = torch.cat([row.expand(count, 6), row[None] + 2])
        test = held_out(count + 1, count)
        prepared = expect_prepared(answer, table, test, f" of {count} times the same")
        about = f"of columns that hold one number {count} times, in {dtype}"
        expect_equal(prepared.std, torch.ones(6, dtype=torch.float64), f"{CALL}.std {about}")
        zeros = torch.zeros(count, 6, dtype=dtype)
        expect_equal(prepared.train + 0, zeros, f"{CALL}.train {about}")
        # or the same number would not be 0 in a test row, nor in scale
        expect_equal(prepared.mean, row.double(), f"{CALL}.mean {about}")
        for at in {0, count}:  # in front, and behind all the numbers
            gaps = torch.cat([table[:at], torch.full_like(table[:1], NAN), table[at:]])
            note = f" of {count} times the same, and a missing number at {at}"
            kept = expect_prepared(answer, gaps, held_out(count + 2, count + 1), note)
            expect_equal(kept.mean, row.double(), f"{CALL}.mean{note}, in {dtype}")
            expect_equal(kept.std, torch.ones(6, dtype=torch.float64), f"{CALL}.std{note}, in {dtype}")


def test_small_numbers(answer, gen):
    """Columns of tiny numbers, or that vary by tiny amounts, are scaled like others."""
    table = torch.randn(6, 5, generator=gen, dtype=torch.float64)
    table *= torch.tensor([1e-20, 1e-8, 1e-4, 1e-10, 1e-31], dtype=torch.float64)
    table[:, 3] += 1.0
    table[:, 4] += 1e-20
    expect_prepared(answer, table, held_out(6, 1), " of tiny numbers in float64")
    expect_prepared(answer, table[:, :3].float(), held_out(6, 1), " of tiny numbers in float32")


def test_digits(answer, gen):
    """Columns that lie far from 0 keep their digits."""
    noise = torch.randn(40, 3, generator=gen, dtype=torch.float64)
    expect_prepared(answer, (1e6 + noise).float(), held_out(40, 3, 8), " of numbers near 1e6, in float32")
    far = noise + torch.tensor([1e6, -1e9, 1e4], dtype=torch.float64)
    expect_prepared(answer, far, held_out(40, 3, 8), " of numbers near 1e6 and -1e9, in float64")
    far[0] = NAN
    expect_prepared(answer, far, held_out(40, 3, 8), " of numbers near 1e6 and -1e9, the first one missing")
    near = 2.0**20 + torch.tensor([[0.0], [2.0**-30], [1.0]], dtype=torch.float64)
    expect_prepared(answer, near, held_out(3, 2), " of two numbers near 1e6 that differ by 1e-9, in float64")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtypes(answer, gen, dtype):
    """train and test have the dtype of the table; mean and std are float64, also for large half numbers."""
    table = a_table(gen, 12, 3, dtype)
    table[3, 1] = NAN
    expect_prepared(answer, table, held_out(12, 0, 5), f" in {dtype}")
    many = a_table(gen, 303, 2, dtype)  # more rows than bfloat16 can count
    expect_prepared(answer, many, held_out(303, 7, 9), f" of 301 training rows in {dtype}")
    large = torch.tensor([[6e4, 300.0], [5e4, -200.0], [4e4, 250.0], [3e4, 1.0]]).to(dtype)
    expect_prepared(answer, large, held_out(4, 2), f" with 60000 in {dtype}")


def test_few_rows_and_columns(answer, gen):
    """One training row, no test rows, no columns: all of it works."""
    for rows, columns, out in [
        (1, 3, ()), (2, 3, (0,)), (5, 1, (0, 1, 2, 3)), (3, 0, (1,)), (2, 0, ()), (40, 1, range(3, 40, 2)),
    ]:  # fmt: skip
        note = f" of {rows} rows and {columns} columns"
        expect_prepared(answer, a_table(gen, rows, columns), held_out(rows, *out), note)


def test_strided_tables(answer, gen):
    """Transposed, sliced and expanded tables are read like any others."""
    table = a_table(gen, 8, 6)
    for strided in (table.t(), table[::2, 1:4], table[:, :1].expand(8, 3), table.flip(0)):
        expect_prepared(answer, strided, held_out(len(strided), 1, 2), f" of strides {strided.stride()}")
    mask = torch.stack([held_out(8, 1, 2), held_out(8, 3)], 1)[:, 1]
    expect_prepared(answer, table, mask, " with a strided mask")


def test_inputs_are_left_alone(answer, gen):
    """The table, the mask and later rows keep their values; the results have memory of their own."""
    table = a_table(gen, 6, 3, torch.float64)
    table[0, 1] = table[2, 2] = NAN
    for out in (2, 5):
        test = held_out(6, out)
        with unchanged(f"{CALL} without row {out}", table=table, test=test):
            prepared = answer.prepare(table, test)
        for name in NAMES:
            expect_copy(getattr(prepared, name), table, f"{CALL}.{name} without row {out}")
    rows = table[:2].clone()
    mean, std = torch.full((3,), 5.0, dtype=torch.float64), torch.full((3,), 2.0, dtype=torch.float64)
    with unchanged("scale(rows, mean, std)", rows=rows, mean=mean, std=std):
        later = answer.scale(rows, mean, std)
    expect_copy(later, rows, "scale(rows, mean, std)")
    later = answer.scale(rows[1:], torch.zeros_like(mean), torch.ones_like(std))
    expect_copy(later, rows, "scale(rows, mean, std) with means of 0 and deviations of 1")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_later_rows(answer, gen, dtype):
    """Rows that come later, in any number, are scaled by the statistics given, not by their own."""
    mean = torch.tensor([3.0, -1e6, 0.0], dtype=torch.float64)
    std = torch.tensor([2.0, 0.3, 1.0], dtype=torch.float64)
    for shape in [(3,), (1, 3), (5, 3), (2, 4, 3), (0, 3), (3, 3), (2, 3, 3)]:
        rows = (mean + std * torch.randn(shape, generator=gen, dtype=torch.float64)).to(dtype)
        if rows.numel():
            rows.view(-1)[0], rows.view(-1)[-2], rows.view(-1)[-1] = NAN, NAN, INF
        wanted = scaled(rows, mean, std).to(dtype)
        yours = answer.scale(rows, mean, std)
        expect_columns(yours, wanted, f"scale(rows, mean, std) of shape {shape} in {dtype}", [4.0] * 3)
    swapped = torch.randn(4, 3, generator=gen).to(dtype)
    other = scaled(swapped, std, mean - 1).to(dtype)
    expect_columns(
        answer.scale(swapped, std, mean - 1), other, "scale(rows, std, mean - 1)", [4.0, 1e-5, 4.0]
    )


def test_bad_masks(answer, gen):
    """A mask that does not hold one bool for each row, or holds all of them, raises ValueError."""
    table = a_table(gen, 4, 4)
    ok = held_out(4, 1)
    for what, rows, test in [
        ("a mask of 3 rows for 4", table, ok[:3]),
        ("a mask of 5 rows for 4", table, held_out(5, 1)),
        ("a mask of 1 row for 4", table, held_out(1)),
        ("a mask of one number", table, torch.tensor(False)),
        ("a mask like the table", table, torch.zeros(4, 4, dtype=torch.bool)),
        ("row numbers", table, torch.tensor([1, 2])),
        ("integers for bools", table, ok.long()),
        ("floats for bools", table, ok.float()),
        ("bytes for bools", table, ok.to(torch.uint8)),
        ("a column of bools", table, ok[:, None]),
        ("all rows in the test set", table, ~held_out(4)),
        ("all rows of a table without columns in the test set", table[:, :0], ~held_out(4)),
        ("no rows at all", table[:0], ok[:0]),
    ]:
        expect_raises(
            ValueError, lambda rows=rows, test=test: answer.prepare(rows, test), f"{CALL} with {what}"
        )


def oracle(answer, gen):
    results = []
    for dtype in (torch.float32, torch.float64):
        table = a_table(gen, 10, 3, dtype)
        table[torch.rand(10, 3, generator=gen) < 0.2] = NAN
        test = torch.rand(10, generator=gen) < 0.3
        prepared = answer.prepare(table, test)
        results += [getattr(prepared, name) for name in NAMES]
        results.append(answer.scale(a_table(gen, 3, 3, dtype), prepared.mean, prepared.std))
    return results
