"""The worked example of to_shares."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal

KINDS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_worked_example(answer, dtype):
    """The first worked example comes out, in every dtype."""
    weights = torch.tensor([[1.0, 3.0], [0.0, 0.0]], dtype=dtype)
    wanted = torch.tensor([[0.25, 0.75], [0.0, 0.0]], dtype=dtype)
    with_row = lambda *row: torch.tensor([[0.25, 0.75], row], dtype=dtype)  # noqa: E731
    suspects = {
        f"a row of zeros is 0 / 0: 1e-8 is 0 in {dtype}, or there is no guard": lambda: with_row(
            math.nan, math.nan
        ),
        "a row of zeros gets equal shares: they are 0": lambda: with_row(0.5, 0.5),
        "this is a softmax: shares are weights by their sum": lambda: weights.softmax(-1),
    }
    expect_equal(answer.to_shares(weights), wanted, f"to_shares(weights) in {dtype}", suspects=suspects)


def test_small_weights(answer):
    """Weights as small as eps get the shares that they should."""
    yours, wanted = answer.to_shares(torch.tensor([1e-8, 3e-8])), torch.tensor([0.25, 0.75])
    suspects = {
        "their sum, 4e-8, feels the eps that is added to it, or bounds it": lambda: (
            wanted * yours.detach().sum()
        ),
        "small weights are taken for 0": lambda: torch.zeros(2),
    }
    expect_close(yours, wanted, "to_shares(weights) near 1e-8", suspects=suspects)
