"""The contract of leak_free_scaler."""

import math

import torch

from grader.checks import expect_close, expect_that

TABLE = torch.tensor([[1.0, 10.0], [3.0, 10.0], [5.0, math.nan], [99.0, 14.0]])
TEST = torch.tensor([False, False, False, True])


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    prepared = answer.prepare(TABLE.clone(), TEST.clone())
    mean, std = torch.tensor([3.0, 10.0]), torch.tensor([(8 / 3) ** 0.5, 1.0])
    leaked = {
        "the test row has a say in it: split first": lambda: TABLE.nanmean(0),
        "this is the mean of the test row: `test` is True for the rows that are left out": lambda: TABLE[3],
    }
    expect_close(prepared.mean.float(), mean, "prepare(table, test).mean", suspects=leaked)
    less = {"it divides by one less than the count of numbers": lambda: torch.tensor([2.0, 1.0])}
    expect_close(prepared.std.float(), std, "prepare(table, test).std", suspects=less)
    train = torch.tensor([[-(1.5**0.5), 0.0], [0.0, 0.0], [1.5**0.5, 0.0]])
    missing = {
        "a missing number becomes 0 before the scaling: the mean of its column takes its place": lambda: (
            (TABLE[:3].nan_to_num() - mean) / std
        ),
    }
    call = "prepare(table, test).train"
    expect_close(prepared.train.float(), train, call, dims="rows columns", scale=10.0, suspects=missing)
    test = torch.tensor([[96 / (8 / 3) ** 0.5, 4.0]])
    own = {
        "the test row is cut to the range of the training rows": lambda: torch.tensor([[1.5**0.5, 0.0]]),
    }
    told = "the test row is scaled by its own mean and deviation: it takes those of the training rows"
    expect_that(bool((prepared.test != 0).any()), told, yours=prepared.test.tolist())
    call = "prepare(table, test).test"
    expect_close(prepared.test.float(), test, call, dims="rows columns", suspects=own)


def test_later_rows(answer):
    """Rows that come later are scaled by the statistics that are given."""
    mean, std = torch.tensor([3.0, 10.0]).double(), torch.tensor([2.0, 1.0]).double()
    row = torch.tensor([7.0, 9.5])
    expect_close(answer.scale(row, mean, std).float(), torch.tensor([2.0, -0.5]), "scale(row, mean, std)")
