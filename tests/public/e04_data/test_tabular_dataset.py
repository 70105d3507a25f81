"""The worked example of tabular_dataset."""

import numpy as np
import torch

from grader.checks import expect_equal, expect_raises


def example(answer):
    features = np.array([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    return answer.TabularDataset(features, np.array([1, 0, 2, 1], dtype=np.int32))


def test_worked_example(answer):
    """The worked example has four rows, which come from either end in float32, with labels in int64."""
    data = example(answer)
    expect_equal(len(data), 4, "len(data)", suspects={"this is the number of columns": lambda: 2})
    for index, features, label in ((1, [2.0, 3.0], 0), (-1, [6.0, 7.0], 1)):
        x, y = data[index]
        expect_equal(x, torch.tensor(features), f"x of data[{index}]")
        expect_equal(torch.as_tensor(y), torch.tensor(label), f"y of data[{index}]")


def test_end(answer):
    """A row that is not there raises IndexError."""
    data = example(answer)
    expect_raises(IndexError, lambda: data[4], "data[4]")
