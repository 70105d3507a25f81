"""The contract of tabular_dataset."""

import numpy as np
import torch

from grader.checks import expect_equal, expect_raises, expect_that


def example(answer):
    features = np.array([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    return answer.TabularDataset(features, np.array([1, 0, 2, 1], dtype=np.int32))


def expect_pair(pair, x, y, call):
    expect_that(isinstance(pair, tuple) and len(pair) == 2, f"{call} is no pair", yours=pair)
    expect_equal(pair[0], torch.tensor(x), f"x of {call}")
    expect_equal(pair[1], torch.tensor(y), f"y of {call}")


def test_rows(answer):
    """The rows of the worked example come out, from either end, in float32 and int64."""
    data = example(answer)
    expect_equal(len(data), 4, "len(data)")
    expect_pair(data[1], [2.0, 3.0], 0, "data[1]")
    expect_pair(data[-1], [6.0, 7.0], 1, "data[-1]")


def test_slice(answer):
    """A slice of the worked example is a dataset again."""
    last = example(answer)[::-2]
    expect_that(isinstance(last, answer.TabularDataset), "data[::-2] is no TabularDataset", yours=last)
    expect_equal(len(last), 2, "len(data[::-2])")
    expect_pair(last[1], [2.0, 3.0], 0, "data[::-2][1]")


def test_errors(answer):
    """A missing row raises IndexError, a list TypeError, and labels that do not fit ValueError."""
    data = example(answer)
    expect_raises(IndexError, lambda: data[4], "data[4]")
    expect_raises(TypeError, lambda: data[[0, 1]], "data[[0, 1]]")
    table, column = torch.ones(3, 2), torch.zeros(4, dtype=torch.int64)
    expect_raises(ValueError, lambda: answer.TabularDataset(table, column), "3 rows with 4 labels")
    expect_raises(TypeError, lambda: answer.TabularDataset(table, torch.zeros(3)), "labels that are floats")
