"""The contract of linear_layer."""

import torch

from grader.checks import expect_close, expect_equal
from grader.checks.registered import expect_registered


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    layer = answer.Linear(3, 2)
    weight, bias = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]), torch.tensor([10.0, 20.0])
    expect_equal(sorted(layer.state_dict()), ["bias", "weight"], "the names in Linear(3, 2).state_dict()")
    layer.load_state_dict({"weight": weight, "bias": bias})
    y = layer(torch.tensor([1.0, 2.0, 3.0]))
    expect_close(y.detach(), torch.tensor([17.0, 25.0]), "layer(x)", dims="output")


def test_parameters(answer):
    """The layer has a weight and a bias, and no bias with bias=False."""
    expect_registered(answer.Linear(3, 2), "Linear(3, 2)", parameters={"weight": (2, 3), "bias": (2,)})
    without = answer.Linear(3, 2, bias=False)
    expect_registered(without, "Linear(3, 2, bias=False)", parameters={"weight": (2, 3)})


def test_shapes(answer):
    """The last dimension changes its size, all others stay."""
    layer = answer.Linear(3, 2)
    for sizes in [(3,), (5, 3), (4, 5, 3)]:
        y = layer(torch.zeros(sizes))
        expect_equal(y.shape, torch.Size([*sizes[:-1], 2]), f"the shape of layer(x), x of shape {sizes}")
