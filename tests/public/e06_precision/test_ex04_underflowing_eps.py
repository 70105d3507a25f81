"""The contract of to_shares."""

import pytest
import torch

from grader.checks import expect_close, expect_equal

KINDS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_worked_example(answer, dtype):
    """The worked example of the statement comes out, in every dtype."""
    weights = torch.tensor([[1.0, 3.0], [0.0, 0.0]], dtype=dtype)
    wanted = torch.tensor([[0.25, 0.75], [0.0, 0.0]], dtype=dtype)
    suspects = {
        f"a row of zeros is divided by 0: 1e-8 is 0 in {dtype}, or there is no guard": lambda: torch.tensor(
            [[0.25, 0.75], [float("nan")] * 2]
        ).to(dtype),
        "a row of zeros gets equal shares: they are 0": lambda: torch.tensor([[0.25, 0.75], [0.5, 0.5]]).to(
            dtype
        ),
        "this is a softmax: shares are weights by their sum": lambda: weights.softmax(-1),
    }
    call = f"to_shares(weights) in {dtype}"
    expect_equal(answer.to_shares(weights), wanted, call, suspects=suspects)


def test_small_weights(answer):
    """Weights as small as eps get the shares that they should."""
    weights = torch.tensor([1e-8, 3e-8])
    suspects = {
        "eps is as large as the weights, and is added to their sum": lambda: torch.tensor([0.2, 0.6]),
        "small weights are taken for 0": lambda: torch.zeros(2),
    }
    call = "to_shares(weights) near 1e-8"
    expect_close(answer.to_shares(weights), torch.tensor([0.25, 0.75]), call, suspects=suspects)
