"""The worked example of evaluate."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_number

BATCHES = [
    (torch.tensor([[1.0], [1.0], [1.0]]), torch.zeros(3, 1)),
    (torch.tensor([[3.0]]), torch.zeros(1, 1)),
]


def test_worked_example(answer):
    """The worked example of the statement comes out: 3.0, where the short batch counts for less."""
    loss = answer.evaluate(nn.Identity(), F.mse_loss, BATCHES)
    suspects = {
        "a mean of the batches' means: weigh each by the number of its examples": lambda: 5.0,
        "the batches' means are added up": lambda: 10.0,
        "the sum over all examples is not divided by their number": lambda: 12.0,
    }
    expect_number(loss, 3.0, "evaluate(model, loss_fn, batches)", suspects=suspects)


def test_dropout(answer):
    """A dropout that comes in training mode does nothing here."""
    loss = answer.evaluate(nn.Dropout(0.5).train(), F.mse_loss, BATCHES)
    expect_number(loss, 3.0, "evaluate(…) of a dropout, which evaluation mode switches off")
