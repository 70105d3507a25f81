"""The contract of leak_free_scaler."""

import math

import torch

from grader.checks import expect_close

TABLE = torch.tensor([[1.0, 10.0], [3.0, 10.0], [5.0, math.nan], [99.0, 14.0]])
TEST = torch.tensor([False, False, False, True])


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    prepared = answer.prepare(TABLE.clone(), TEST.clone())
    mean, std = torch.tensor([3.0, 10.0]), torch.tensor([(8 / 3) ** 0.5, 1.0])
    leaked = {"the test row has a say in it: split first": lambda: TABLE.nanmean(0)}
    expect_close(prepared.mean.float(), mean, "prepare(table, test).mean", suspects=leaked)
    less = {"it divides by one less than the count of numbers": lambda: torch.tensor([2.0, 1.0])}
    expect_close(prepared.std.float(), std, "prepare(table, test).std", suspects=less)
    train = torch.tensor([[-(1.5**0.5), 0.0], [0.0, 0.0], [1.5**0.5, 0.0]])
    expect_close(prepared.train.float(), train, "prepare(table, test).train", dims="rows columns", scale=10.0)
    test = torch.tensor([[96 / (8 / 3) ** 0.5, 4.0]])
    expect_close(prepared.test.float(), test, "prepare(table, test).test", dims="rows columns")


def test_later_rows(answer):
    """Rows that come later are scaled by the statistics that are given."""
    mean, std = torch.tensor([3.0, 10.0]).double(), torch.tensor([2.0, 1.0]).double()
    row = torch.tensor([7.0, 9.5])
    expect_close(answer.scale(row, mean, std).float(), torch.tensor([2.0, -0.5]), "scale(row, mean, std)")
