"""The contract of rms_norm."""

import torch

from grader.checks import expect_close, expect_equal, expect_raises
from grader.checks.registered import expect_registered


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    wanted = torch.tensor([3.0, 4.0]) / 12.5**0.5
    expect_close(answer.RMSNorm(2)(torch.tensor([3.0, 4.0])), wanted, "RMSNorm(2)(x)", dims="feature")


def test_registered(answer):
    """The weight, ones, is the only parameter, and there is no buffer."""
    layer = answer.RMSNorm(3)
    expect_registered(layer, "RMSNorm(3)", parameters={"weight": [3]})
    expect_equal(layer.weight.detach(), torch.ones(3), "the weight of a new RMSNorm(3)")


def test_half_precision(answer):
    """float16 goes in and comes out, and 300 does not overflow."""
    yours = answer.RMSNorm(2)(torch.tensor([[300.0, 400.0]], dtype=torch.float16))
    expect_close(yours, torch.tensor([[0.8485, 1.1314]]).half(), "RMSNorm(2)(x) in float16")


def test_bad_input(answer):
    """Another number of features raises ValueError."""
    expect_raises(ValueError, lambda: answer.RMSNorm(3)(torch.ones(4, 2)), "RMSNorm(3)(x) with two features")
