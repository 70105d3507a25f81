"""The worked example of first_nan."""

import torch
from torch import nn

from grader.checks import expect_equal

INPUTS, CALL = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "first_nan(model, inputs)"


class Log(nn.Module):
    def forward(self, x):
        return x.log()


def model_with(bias):
    """Hands `bias` to a logarithm in the middle, whatever comes in."""
    model = nn.Sequential(nn.Linear(2, 2), Log(), nn.Linear(2, 1))
    nn.init.zeros_(model[0].weight)
    nn.init.constant_(model[0].bias, bias)
    return model


def test_worked_example(answer):
    """The logarithm of a negative number is named."""
    suspects = {
        "this one only hands NaN on: the first is asked for": lambda: "2",
        "the model returns last: its parts come before it": lambda: "",
        "this is the class: the name in `named_modules` is asked for": lambda: "Log",
        "None came back: is the result of the hooks returned?": lambda: None,
    }
    expect_equal(answer.first_nan(model_with(-1.0), INPUTS), "1", CALL, suspects=suspects)


def test_healthy(answer):
    """A healthy model gives None."""
    expect_equal(answer.first_nan(model_with(1.0), INPUTS), None, f"{CALL} of a healthy model")
