"""What grades leak_free_scaler: leaks, missing numbers, later rows; constant columns, dtypes, masks."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_copy, expect_equal, expect_raises, expect_that, unchanged

CALL = "prepare(table, test)"
NAMES = ("mean", "std", "train", "test")  # the statistics first
NAN, INF = math.nan, math.inf


def statistics(rows):
    """Mean and standard deviation of the numbers that are not missing, column by column, in float64."""
    pairs = []
    for column in rows.double().T:
        numbers = column[~column.isnan()]
        mean = numbers.mean() if len(numbers) else 0.0
        vary = len(numbers) and (numbers != numbers[0]).any()
        pairs.append((mean, (numbers - mean).square().mean().sqrt() if vary else 1.0))
    mean, std = torch.tensor(pairs, dtype=torch.float64).reshape(-1, 2).T
    return mean, std


def scaled(rows, mean, std):
    return ((rows.double() - mean) / std).masked_fill(rows.isnan(), 0.0)


def reference(table, test, rows=None):
    mean, std = statistics(table[~test] if rows is None else rows)
    return dict(
        zip(NAMES, (mean, std, scaled(table[~test], mean, std), scaled(table[test], mean, std)), strict=True)
    )


def mistakes(table, test):
    """What people get wrong, and what it gives."""
    rows, zeros = table[~test], table.nan_to_num(0.0)
    numbers = (~rows.isnan()).sum(0)
    return {
        "the test rows have a say in it: split first": reference(table, test, table),
        "missing numbers count as 0": reference(table, test, zeros[~test]),
        "rows with a missing number are left out": reference(table, test, rows[~rows.isnan().any(1)]),
        "std divides by one less than the count": {
            "std": statistics(rows)[1] * (numbers / (numbers - 1).clamp(min=1)).sqrt()
        },
    }


def expect_prepared(answer, table, test, note="", ulps=64.0, scale=20.0):
    """Compare in float32, whatever dtype the statistics have."""
    wanted, wrong = reference(table, test), mistakes(table, test)
    prepared = answer.prepare(table, test)
    for name in NAMES:
        expect_that(hasattr(prepared, name), f"{CALL} has no {name}", yours=prepared)
        told = {words: lambda v=v, n=name: v[n].float() for words, v in wrong.items() if name in v}
        dims = "rows columns" if name in ("train", "test") else "columns"
        yours, right = getattr(prepared, name).float(), wanted[name].float()
        expect_close(yours, right, f"{CALL}.{name}{note}", ulps=ulps, scale=scale, dims=dims, suspects=told)
    return prepared


def a_table(gen, rows, columns, dtype=torch.float32):
    return (
        torch.randn(rows, columns, generator=gen) * torch.logspace(-1, 1, columns) + torch.arange(columns)
    ).to(dtype)


def held_out(rows, *indices):
    test = torch.zeros(rows, dtype=torch.bool)
    test[list(indices)] = True
    return test


@pytest.mark.parametrize("out", [(5,), (0, 3, 4), (1, 2, 6)], ids=str)
def test_any_split(answer, gen, out):
    """Whichever rows are held out, the others alone give the statistics; the order of the rows is kept."""
    expect_prepared(answer, a_table(gen, 7, 4), held_out(7, *out), f" without rows {out}")


@pytest.mark.parametrize("odd", [1e6, NAN])
def test_no_leak(answer, gen, odd):
    """Whatever stands in the test rows, mean, std and the training rows are the same."""
    table, test = a_table(gen, 8, 3), held_out(8, 2, 6)
    plain = answer.prepare(table.clone(), test)
    table[2], table[6, 1] = odd, odd
    prepared = answer.prepare(table, test)
    for name in ("train", "mean", "std"):
        same = torch.equal(getattr(prepared, name), getattr(plain, name))
        expect_that(same, f"{name} changes where test rows hold {odd}", wanted="what it is without them")


def test_missing_numbers(answer, gen):
    """Missing numbers count nowhere, and become 0 in train and in test."""
    table, test = a_table(gen, 9, 3), held_out(9, 0, 4)
    table[2, 0] = table[4, 0] = table[1, 1] = table[5, 2] = NAN
    table[6, 0] = table[7, 1] = 0.0  # not missing
    expect_prepared(answer, table, test, " with missing numbers")


def test_a_column_that_does_not_vary(answer, gen):
    """A column whose training numbers are all the same is not scaled."""
    table = a_table(gen, 5, 2)
    table[:, 1] = torch.tensor([4.0, 4.0, 4.0, 4.0, 6.0])
    expect_prepared(answer, table, held_out(5, 4), " with a column of fours")


def test_later_rows(answer, gen):
    """Rows that come later, one or many, are scaled by the statistics given, not by their own."""
    mean, std = (
        torch.tensor([3.0, -1.0, 0.0], dtype=torch.float64),
        torch.tensor([2.0, 0.5, 1.0], dtype=torch.float64),
    )
    for shape in [(3,), (1, 3), (5, 3)]:
        rows = torch.randn(shape, generator=gen)
        rows.view(-1)[0] = NAN
        call, dims = (
            f"scale(rows, mean, std) of shape {shape}",
            "rows columns" if len(shape) > 1 else "columns",
        )
        expect_close(
            answer.scale(rows, mean, std).float(), scaled(rows, mean, std).float(), call, scale=4.0, dims=dims
        )


@pytest.mark.fine
def test_a_column_without_numbers(answer, gen):
    """A column with no number to train on has mean 0 and std 1."""
    table, test = a_table(gen, 5, 2), held_out(5, 1)
    table[[0, 2, 3, 4], 0] = NAN
    expect_prepared(answer, table, test, " where a column has numbers in test rows only")


@pytest.mark.fine
def test_columns_of_one_number(answer):
    """Where all training numbers are the same, mean is exactly this number, train exactly 0 and std 1."""
    for count in (3, 7, 10):
        row = torch.tensor([0.1, -7.3, 1e6 / 3, 0.7], dtype=torch.float64)
        table = torch.cat([row.expand(count, 4), row[None] + 2])
        prepared = answer.prepare(table, held_out(count + 1, count))
        about = f"of columns that hold one number {count} times"
        expect_equal(prepared.std.double(), torch.ones(4).double(), f"{CALL}.std {about}")
        expect_equal(prepared.train.float() + 0, torch.zeros(count, 4), f"{CALL}.train {about}")


@pytest.mark.fine
def test_tiny_numbers(answer, gen):
    """Columns of tiny numbers, or that vary by little, are scaled like others."""
    table = torch.randn(6, 2, generator=gen, dtype=torch.float64) * torch.tensor([1e-10, 1e-6])
    table[:, 1] += 1.0
    expect_prepared(answer, table, held_out(6, 1), " of tiny numbers")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
def test_dtypes(answer, gen, dtype):
    """mean and std are float64; train and test have the dtype of the table, and all digits."""
    table = (a_table(gen, 12, 3) + 1000).to(dtype)
    prepared = expect_prepared(
        answer, table, held_out(12, 0, 5), f" in {dtype}", ulps=4e3 if dtype.itemsize == 2 else 64
    )
    found = {name: str(getattr(prepared, name).dtype) for name in NAMES}
    wanted = dict.fromkeys(("mean", "std"), "torch.float64") | dict.fromkeys(("train", "test"), str(dtype))
    expect_equal(found, wanted, f"the dtypes of {CALL} of a table in {dtype}")


@pytest.mark.fine
def test_infinities_and_more_dimensions(answer, gen):
    """Infinities stay what they are, and rows may have any number of dimensions in front."""
    rows = torch.randn(2, 4, 3, generator=gen).double()
    rows[0, 0, 0], rows[1, 0, 1] = INF, NAN
    mean, std = torch.tensor([3.0, -1.0, 0.0]).double(), torch.tensor([2.0, 0.5, 1.0]).double()
    wanted, call = scaled(rows, mean, std), "scale(rows, mean, std) of shape (2, 4, 3)"
    expect_close(answer.scale(rows, mean, std), wanted, call, scale=4.0)


@pytest.mark.fine
def test_inputs_are_left_alone(answer, gen):
    """The table, the mask and later rows keep their values; the results have memory of their own."""
    table, test = a_table(gen, 6, 3, torch.float64), held_out(6, 5)
    table[0, 1] = NAN
    with unchanged(CALL, table=table, test=test):
        prepared = answer.prepare(table, test)
    for name in NAMES:
        expect_copy(getattr(prepared, name), table, f"{CALL}.{name}")
    rows, mean, std = table[1:3].clone(), torch.full((3,), 5.0).double(), torch.full((3,), 2.0).double()
    with unchanged("scale(rows, mean, std)", rows=rows, mean=mean, std=std):
        expect_copy(answer.scale(rows, mean, std), rows, "scale(rows, mean, std)")


@pytest.mark.fine
def test_bad_masks(answer, gen):
    """A mask that does not hold one bool for each row, or holds all of them, raises ValueError."""
    table, ok = a_table(gen, 4, 4), held_out(4, 1)
    for what, test in [
        ("a mask of 3 rows for 4", ok[:3]),
        ("integers for bools", ok.long()),
        ("all rows in the test set", ~held_out(4)),
    ]:
        expect_raises(ValueError, lambda test=test: answer.prepare(table, test), f"{CALL} with {what}")


def oracle(answer, gen):
    table, test = a_table(gen, 10, 3), held_out(10, 2, 7)
    whole, gaps = table.clone(), table.clone()
    gaps[1, 0] = gaps[4, 2] = gaps[7, 1] = NAN

    def told(table, names):
        return lambda: [getattr(answer.prepare(table.clone(), test), name).float() for name in names]

    later = a_table(gen, 3, 3)
    return {
        "mean and std of the training rows": told(whole, ("mean", "std")),
        "training and test rows": told(whole, ("train", "test")),
        "mean and std with missing numbers": told(gaps, ("mean", "std")),
        "rows with missing numbers": told(gaps, ("train", "test")),
        "later rows": lambda: answer.scale(later, torch.ones(3).double(), 2 * torch.ones(3).double()).float(),
    }
