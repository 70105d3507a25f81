"""The worked example of rms_norm, and what its layer registers."""

import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, layer
from grader.checks.registered import expect_registered

contract = Contract(
    "RMSNorm(features)(x)",
    example=(layer(2)(torch.tensor([[3.0, 4.0], [6.0, 8.0]])), [[0.84852814, 1.1313708]] * 2),
    dims="row feature",
    suspects={
        "the mean is taken over the rows: each row has its own": lambda state, x: (
            x / x.square().mean(0).sqrt()
        ),
        "one mean is taken for all numbers: each row has its own": lambda state, x: (
            x / x.square().mean().sqrt()
        ),
    },
)


def test_registered(answer):
    """The weight, ones, is the only parameter, and there is no buffer."""
    new = answer.RMSNorm(3)
    expect_registered(new, "RMSNorm(3)", parameters={"weight": [3]})
    expect_equal(new.weight.detach(), torch.ones(3), "the weight of a new RMSNorm(3)")
