"""The worked example of dynamic_int8."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    linear = nn.Linear(2, 2)
    linear.weight.data = torch.tensor([[0.5, -1.27], [25.4, 10.08]])
    linear.bias.data.zero_()
    layer = answer.Int8Linear.from_linear(linear)
    suspects = {
        "there is one scale for all rows": lambda: torch.tensor([0.2, 0.2]),
        "the scale is for columns": lambda: torch.tensor([0.2, 10.08 / 127]),
        "the largest value counts, not the largest size": lambda: torch.tensor([0.5 / 127, 0.2]),
        "it is divided by 128": lambda: torch.tensor([1.27, 25.4]) / 128,
    }
    expect_close(layer.scale, torch.tensor([0.01, 0.2]), "layer.scale", suspects=suspects)
    expect_equal(layer.weight, torch.tensor([[50, -127], [127, 50]], dtype=torch.int8), "layer.weight")
    yours, wanted = layer(torch.tensor([[1.0, 1.0]])), torch.tensor([[-0.77, 35.4]])
    suspects = {"the weight is not multiplied by the scale": lambda: torch.tensor([[-77.0, 177.0]])}
    expect_close(yours.detach(), wanted, "layer(torch.tensor([[1.0, 1.0]]))", suspects=suspects)


def test_replaces(answer):
    """quantize_linears replaces linear layers in place, but for those in skip."""
    model = nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 2))
    yours = answer.quantize_linears(model, skip=["1"])
    expect_that(yours is model, "quantize_linears returns another model", yours=yours)
    expect_that(isinstance(model[0][0], answer.Int8Linear), "model[0][0] is not replaced", yours=model[0][0])
    expect_that(type(model[1]) is nn.Linear, "model[1], which is in skip, is replaced", yours=model[1])
