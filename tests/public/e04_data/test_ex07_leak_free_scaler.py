"""The contract of leak_free_scaler."""

import math

import torch

from grader.checks import expect_close, expect_raises

TABLE = torch.tensor([[1.0, 10.0], [3.0, 10.0], [5.0, math.nan], [99.0, 14.0]])
TEST = torch.tensor([False, False, False, True])


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    prepared = answer.prepare(TABLE.clone(), TEST.clone())
    wide = torch.float64
    expect_close(prepared.mean, torch.tensor([3.0, 10.0], dtype=wide), "prepare(table, test).mean")
    expect_close(prepared.std, torch.tensor([(8 / 3) ** 0.5, 1.0], dtype=wide), "prepare(table, test).std")
    train = torch.tensor([[-(1.5**0.5), 0.0], [0.0, 0.0], [1.5**0.5, 0.0]])
    expect_close(prepared.train, train, "prepare(table, test).train", dims="rows columns")
    test = torch.tensor([[96 / (8 / 3) ** 0.5, 4.0]])
    expect_close(prepared.test, test, "prepare(table, test).test", dims="rows columns")


def test_later_rows(answer):
    """Rows that come later are scaled by the statistics that are given."""
    mean, std = torch.tensor([3.0, 10.0]).double(), torch.tensor([2.0, 1.0]).double()
    row = torch.tensor([7.0, 9.5])
    expect_close(answer.scale(row, mean, std), torch.tensor([2.0, -0.5]), "scale(row, mean, std)")


def test_nothing_to_train_on(answer):
    """A test set of all rows, or of another length, raises ValueError."""
    everything = torch.ones(4, dtype=torch.bool)
    expect_raises(
        ValueError, lambda: answer.prepare(TABLE, everything), "prepare with all rows in the test set"
    )
    expect_raises(ValueError, lambda: answer.prepare(TABLE, TEST[1:]), "prepare(table, test[1:])")
