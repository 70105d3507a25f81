"""The contract of tensor_constructor."""

import numpy as np
import pytest
import torch

from grader.checks import expect_equal, expect_raises


@pytest.mark.parametrize(
    ("values", "dtype", "wanted"),
    [
        (3, None, torch.tensor([3])),
        ([16_777_217, 5], None, torch.tensor([16_777_217, 5])),
        ((0.5, 2), None, torch.tensor([0.5, 2.0])),
        ([1, 0], torch.bool, torch.tensor([True, False])),
    ],
    ids=["a label", "ids", "floats", "with a dtype"],
)
def test_worked_examples(answer, values, dtype, wanted):
    """The worked examples of the statement come out, in their dtypes."""
    expect_equal(
        answer.as_vector(values, dtype=dtype), wanted, f"as_vector({values}, dtype={dtype})", dims="i"
    )


def test_array_keeps_its_dtype(answer):
    """A NumPy array of float64 becomes a vector of float64."""
    wanted = torch.tensor([0.1, 0.2], dtype=torch.float64)
    expect_equal(answer.as_vector(np.array([0.1, 0.2])), wanted, "as_vector(np.array([0.1, 0.2]))", dims="i")


def test_table_is_refused(answer):
    """Values with two dims raise ValueError."""
    expect_raises(ValueError, lambda: answer.as_vector([[1, 2], [3, 4]]), "as_vector([[1, 2], [3, 4]])")
