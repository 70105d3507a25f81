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
    expect_equal(answer.to_shares(weights), wanted, f"to_shares(weights) in {dtype}")


def test_small_weights(answer):
    """Weights as small as eps get the shares that they should."""
    weights = torch.tensor([1e-8, 3e-8])
    expect_close(answer.to_shares(weights), torch.tensor([0.25, 0.75]), "to_shares(weights) near 1e-8")
