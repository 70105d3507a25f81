"""The worked example of weight_ema."""

import torch
from torch import nn

from grader.checks import expect_close


def test_worked_example(answer):
    """The worked example of the statement comes out: the average is 9, and the model's own weight 11."""
    model, x = nn.Linear(1, 1, bias=False), torch.ones(1)
    nn.init.zeros_(model.weight)
    ema = answer.WeightEMA(model, decay=0.5)
    nn.init.constant_(model.weight, 11.0)
    ema.update()
    suspects = {
        "there is no warm-up: d is decay": lambda: torch.tensor([5.5]),
        "d stands at the parameter: it belongs to the average": lambda: torch.tensor([2.0]),
        "t counts from 0: the first update has t = 1": lambda: torch.tensor([9.9]),
        "the model still has its own weights": lambda: torch.tensor([11.0]),
    }
    with ema.swapped():
        inside = model(x).detach()
    expect_close(inside, torch.tensor([9.0]), "model(x) within swapped()", suspects=suspects)
    suspects = {"the averages stay in the model: put its own weights back": lambda: torch.tensor([9.0])}
    expect_close(model(x).detach(), torch.tensor([11.0]), "model(x) after swapped()", suspects=suspects)
