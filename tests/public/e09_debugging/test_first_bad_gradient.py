"""The worked example of first_bad_gradient."""

import torch
from torch import nn

from grader.checks import expect_equal

INPUTS, CALL = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "first_bad_gradient(model, compute_loss)"


class Sqrt(nn.Module):
    def forward(self, x):
        return x.sqrt()


def model_with(bias):
    """Hands `bias` to a root in the middle, whatever comes in."""
    model = nn.Sequential(nn.Linear(2, 2), Sqrt(), nn.Linear(2, 1))
    nn.init.zeros_(model[0].weight)
    nn.init.constant_(model[0].bias, bias)
    return model


def test_worked_example(answer):
    """The root of 0, whose slope is inf, is named."""
    model = model_with(0.0)
    suspects = {
        "this one gets inf, and only hands it on": lambda: "0",
        "this is the module around the culprit": lambda: "",
        "this is the class: the name in `named_modules` is asked for": lambda: "Sqrt",
        "None came back: inf counts, and a forward hook, or a clone, sees no gradients": lambda: None,
    }
    yours = answer.first_bad_gradient(model, lambda: model(INPUTS).mean())
    expect_equal(yours, "1", CALL, suspects=suspects)


def test_healthy(answer):
    """A healthy model gives None."""
    model = model_with(1.0)
    yours = answer.first_bad_gradient(model, lambda: model(INPUTS).mean())
    expect_equal(yours, None, f"{CALL} of a healthy model")
