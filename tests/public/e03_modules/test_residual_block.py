"""The worked example of residual_block, and what its layers are called."""

import torch
from torch import nn

from grader.checks import expect_equal
from grader.checks.contract import Contract, layer

MIDDLE = nn.functional.pad(torch.ones(1, 1, 1, 1), [1, 1, 1, 1])

contract = Contract(
    "ResidualBlock(channels, filters)(x)",
    example=(
        layer(1, 1, state={"conv1.weight": 2 * MIDDLE, "conv2.weight": MIDDLE / 2}).eval()(
            torch.tensor([[[[1.0, -3.0], [2.0, 0.5]]]])
        ),
        [[[[1.99999, 0.0], [3.99998, 0.999995]]]],
    ),
    dims="batch filters height width",
)


def test_names(answer):
    """The block has the parameters of torchvision's, without downsample where x fits as it is."""
    plain = ["conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight", "bn2.bias"]
    more = ["downsample.0.weight", "downsample.1.weight", "downsample.1.bias"]
    for sizes, wanted in [((4, 4), plain), ((4, 6), plain + more), ((4, 4, 2), plain + more)]:
        found = sorted(name for name, _ in answer.ResidualBlock(*sizes).named_parameters())
        call = f"the names of the parameters of ResidualBlock{sizes}"
        expect_equal(found, sorted(wanted), call)
