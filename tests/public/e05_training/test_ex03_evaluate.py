"""The contract of evaluate."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_raises, expect_that

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
    expect_equal(loss, 3.0, "evaluate(model, loss_fn, batches)", suspects=suspects)


def test_modes_come_back(answer):
    """A model in training mode is evaluated in evaluation mode, and is in training mode afterwards."""
    model = nn.Dropout(0.5).train()
    expect_equal(answer.evaluate(model, F.mse_loss, BATCHES), 3.0, "evaluate(…) of a dropout")
    expect_that(model.training, "a model in training mode is in evaluation mode after evaluate(…)")


def test_no_examples(answer):
    """Without examples there is a ValueError."""
    expect_raises(
        ValueError, lambda: answer.evaluate(nn.Identity(), F.mse_loss, []), "evaluate(…, batches=[])"
    )
