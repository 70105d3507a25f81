"""The contract of standardize."""

import torch

from grader.checks import expect_close, expect_equal

X = [[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]]


def test_worked_example(answer):
    """The worked examples of the statement come out."""
    wanted = torch.tensor([[-1.2247449, 0.0, 1.2247449], [0.0, 0.0, 0.0]])
    # The statement's numbers leave eps out: 1e-5 beside a variance of about 1.
    expect_close(answer.standardize(torch.tensor(X), dim=1), wanted, "standardize(x, dim=1)", ulps=256)
    wanted = torch.tensor([[-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    yours = answer.standardize(torch.tensor(X), dim=1, correction=1)
    expect_close(yours, wanted, "standardize(x, dim=1, correction=1)", ulps=256)


def test_all_dimensions_together(answer):
    """With a tuple for dim there is one mean and one variance for all of its dimensions."""
    wanted = (torch.tensor(X) - 3.0) / (8 / 6 + 1e-5) ** 0.5
    expect_close(answer.standardize(torch.tensor(X), dim=(0, 1)), wanted, "standardize(x, dim=(0, 1))")


def test_shape_and_dtype(answer):
    """Shape and dtype come out as they went in."""
    x = torch.arange(24, dtype=torch.bfloat16).view(2, 3, 4)
    result = answer.standardize(x, dim=-1)
    expect_equal(result.shape, torch.Size([2, 3, 4]), "the shape of standardize(x, dim)")
    expect_equal(result.dtype, torch.bfloat16, "the dtype of standardize(x, dim)")
