"""The worked example of group_norm, and what its layer registers."""

import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, layer
from grader.checks.registered import expect_registered

contract = Contract(
    "GroupNorm(groups, channels)(x)",
    example=(
        layer(2, 4)(torch.tensor([[[1.0, 3.0], [5.0, 7.0], [0.0, 2.0], [3.0, 7.0]]])),
        [[[-1.3416394, -0.4472131], [0.4472131, 1.3416394], [-1.1766959, -0.392232], [0.0, 1.5689279]]],
    ),
    dims="batch channel position",
)


def test_registered(answer):
    """weight, of ones, and bias, of zeros, are the only parameters, and there is no buffer."""
    new = answer.GroupNorm(2, 6)
    expect_registered(new, "GroupNorm(2, 6)", parameters={"weight": [6], "bias": [6]})
    expect_equal(new.weight.detach(), torch.ones(6), "the weight of a new GroupNorm(2, 6)")
    expect_equal(new.bias.detach(), torch.zeros(6), "the bias of a new GroupNorm(2, 6)")
