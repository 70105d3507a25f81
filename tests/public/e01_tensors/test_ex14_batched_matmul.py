"""The contract of batched_matmul."""

import torch
from torch import tensor

from grader.checks import expect_close, expect_equal


def test_worked_examples(answer):
    """The worked examples of the statement come out."""
    dots = answer.scores(tensor([[1.0, 2.0]]), tensor([[3.0, 4.0], [5.0, 6.0]]))
    expect_close(dots, tensor([[11.0, 17.0]]), "scores(query, key)", dims="time source")
    table = answer.outer(tensor([1.0, 2.0]), tensor([3.0, 4.0, 5.0]))
    expect_close(
        table, tensor([[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]), "outer(left, right)", dims="rows columns"
    )
    weight = tensor([[[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]])
    picked = answer.bilinear(tensor([1.0, 2.0]), weight, tensor([3.0, 4.0, 5.0]))
    expect_close(picked, tensor([4.0]), "bilinear(left, weight, right)", dims="out")


def test_shapes_and_dtypes(answer):
    """Leading dimensions stay in front, and the dtype is kept."""
    half = torch.float16
    dots = answer.scores(torch.ones(2, 3, 4, 5, dtype=half), torch.ones(2, 3, 6, 5, dtype=half))
    table = answer.outer(torch.ones(2, 4, dtype=half), torch.ones(2, 5, dtype=half))
    numbers = answer.bilinear(
        torch.ones(2, 4, dtype=half), torch.ones(3, 4, 5, dtype=half), torch.ones(2, 5, dtype=half)
    )
    expect_equal(dots.shape, torch.Size([2, 3, 4, 6]), "the shape of scores(query, key)")
    expect_equal(dots.dtype, half, "the dtype of scores(query, key)")
    expect_equal(table.shape, torch.Size([2, 4, 5]), "the shape of outer(left, right)")
    expect_equal(table.dtype, half, "the dtype of outer(left, right)")
    expect_equal(numbers.shape, torch.Size([2, 3]), "the shape of bilinear(left, weight, right)")
    expect_equal(numbers.dtype, half, "the dtype of bilinear(left, weight, right)")
