"""The contract of merge_heads."""

import torch

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    x = torch.arange(8).view(1, 2, 2, 2)
    wanted = torch.tensor([[[0, 1, 4, 5], [2, 3, 6, 7]]])
    expect_equal(answer.merge_heads(x), wanted, "merge_heads(x)", dims="batch time width")


def test_shape_and_dtype(answer):
    """(batch, heads, time, dim) becomes (batch, time, heads * dim), in the same dtype."""
    x = torch.arange(2 * 3 * 4 * 5, dtype=torch.float16).view(2, 3, 4, 5)
    merged = answer.merge_heads(x)
    expect_equal(merged.shape, torch.Size([2, 4, 15]), "the shape of merge_heads(x)")
    expect_equal(merged.dtype, torch.float16, "the dtype of merge_heads(x)")
