"""The contract of embedding_lookup."""

import pytest
import torch

from grader.checks import expect_equal, expect_raises


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    weight = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
    ids = torch.tensor([[2, 0], [2, 1]])
    wanted = torch.tensor([[[2.0, 2.5], [0.0, 0.5]], [[2.0, 2.5], [1.0, 1.5]]])
    expect_equal(
        answer.embedding_lookup(weight, ids), wanted, "embedding_lookup(weight, ids)", dims="row column dim"
    )


def test_shape_and_dtype(answer):
    """The result has the shape of ids plus (dim,), and the dtype of weight."""
    weight = torch.arange(20, dtype=torch.float16).view(5, 4)
    rows = answer.embedding_lookup(weight, torch.tensor([0, 4, 4]))
    call = "embedding_lookup(weight, ids)"
    expect_equal(rows.shape, torch.Size([3, 4]), f"the shape of {call}")
    expect_equal(rows.dtype, torch.float16, f"the dtype of {call} with a float16 weight")


@pytest.mark.parametrize("bad", [3, -1])
def test_ids_out_of_range(answer, bad):
    """An id that is negative, or not below the number of rows, raises IndexError."""
    weight, ids = torch.zeros(3, 2), torch.tensor([0, bad])
    expect_raises(
        IndexError,
        lambda: answer.embedding_lookup(weight, ids),
        f"embedding_lookup(weight, ids) with id {bad}",
    )


def test_floating_ids(answer):
    """Floating ids raise TypeError."""
    weight, ids = torch.zeros(3, 2), torch.tensor([0.0, 1.0])
    expect_raises(
        TypeError, lambda: answer.embedding_lookup(weight, ids), "embedding_lookup(weight, ids) of floats"
    )
