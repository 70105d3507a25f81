"""The contract of first_nan."""

import torch
from torch import nn

from grader.checks import expect_equal


class Log(nn.Module):
    def forward(self, x):
        return x.log()


class Sqrt(nn.Module):
    def forward(self, x):
        return x.sqrt()


def model_with(part, bias):
    """Hands `bias` to a part in the middle, whatever comes in."""
    model = nn.Sequential(nn.Linear(2, 2), part, nn.Linear(2, 1))
    nn.init.zeros_(model[0].weight)
    nn.init.constant_(model[0].bias, bias)
    return model


def found(answer, model):
    inputs = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    result = answer.first_nan(model, lambda: model(inputs).mean())
    return result if result is None else tuple(result)


def test_forward(answer):
    """A module that makes NaN in the forward pass is named."""
    expect_equal(found(answer, model_with(Log(), -1.0)), ("forward", "1"), "first_nan(model, compute_loss)")


def test_backward(answer):
    """A module that makes inf in the backward pass alone is named."""
    expect_equal(found(answer, model_with(Sqrt(), 0.0)), ("backward", "1"), "first_nan(model, compute_loss)")


def test_healthy(answer):
    """A healthy model gives None."""
    expect_equal(found(answer, model_with(Log(), 1.0)), None, "first_nan(model, compute_loss)")
