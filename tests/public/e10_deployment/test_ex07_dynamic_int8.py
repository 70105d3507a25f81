"""The contract of dynamic_int8."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that


def example():
    linear = nn.Linear(2, 2)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[0.5, -1.27], [25.4, 10.08]]))
        linear.bias.zero_()
    return linear


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    layer = answer.Int8Linear.from_linear(example())
    expect_equal(layer.weight, torch.tensor([[50, -127], [127, 50]], dtype=torch.int8), "layer.weight")
    expect_close(layer.scale, torch.tensor([0.01, 0.2]), "layer.scale")
    yours = layer(torch.tensor([[1.0, 1.0]]))
    expect_close(yours.detach(), torch.tensor([[-0.77, 35.4]]), "layer(torch.tensor([[1.0, 1.0]]))")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_dtype(answer, dtype):
    """The result has the dtype of x, and the shape of a linear layer's."""
    yours = answer.Int8Linear.from_linear(nn.Linear(3, 4))(torch.ones(2, 5, 3, dtype=dtype))
    expect_equal((yours.dtype, tuple(yours.shape)), (dtype, (2, 5, 4)), "(dtype, shape) of layer(x)")


def test_replaces(answer):
    """quantize_linears replaces linear layers in place, but for those in skip."""
    model = nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 2))
    yours = answer.quantize_linears(model, skip=["1"])
    expect_that(yours is model, "quantize_linears returns another model", yours=yours)
    expect_that(isinstance(model[0][0], answer.Int8Linear), "model[0][0] is not replaced", yours=model[0][0])
    expect_that(type(model[1]) is nn.Linear, "model[1], which is in skip, is replaced", yours=model[1])


def test_not_finite(answer):
    """A weight that holds NaN raises ValueError."""
    linear = nn.Linear(2, 2)
    linear.weight.data[0, 1] = torch.nan
    expect_raises(ValueError, lambda: answer.Int8Linear.from_linear(linear), "from_linear(linear)")
