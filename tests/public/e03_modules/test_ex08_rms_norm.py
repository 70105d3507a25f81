"""The worked example of rms_norm, and what its layer registers."""

import torch

from grader.checks import expect_close, expect_equal
from grader.checks.registered import expect_registered


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    x = torch.tensor([3.0, 4.0])
    suspects = {
        "squares are added up: their mean is asked for": lambda: x / 5,
        "the mean is taken off first: that is layer norm": lambda: torch.tensor([-1.0, 1.0]),
    }
    wanted = torch.tensor([0.84852814, 1.1313708])
    expect_close(answer.RMSNorm(2)(x), wanted, "RMSNorm(2)(x)", dims="feature", suspects=suspects)


def test_registered(answer):
    """The weight, ones, is the only parameter, and there is no buffer."""
    layer = answer.RMSNorm(3)
    expect_registered(layer, "RMSNorm(3)", parameters={"weight": [3]})
    expect_equal(layer.weight.detach(), torch.ones(3), "the weight of a new RMSNorm(3)")
