"""The worked example of train_epoch."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_number

BATCHES = [
    (torch.tensor([[1.0]]), torch.tensor([[1.0]])),
    (torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [2.0]])),
]


def worked_example():
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def test_worked_example(answer):
    """The worked example of the statement comes out, as two Python floats."""
    model, optimizer = worked_example()
    loss, metric = answer.train_epoch(model, F.mse_loss, F.l1_loss, optimizer, BATCHES)
    means = {"a mean of the batches' means: weigh each by the number of its examples": lambda: 1.3}
    expect_number(loss, 1.4, "mean loss from train_epoch(…)", suspects=means)
    expect_number(metric, 3.4 / 3, "mean metric from train_epoch(…)")


def test_weight_moves(answer):
    """The weight moves by the gradients of the losses: 2, 1.8, 1.4."""
    model, optimizer = worked_example()
    answer.train_epoch(model, F.mse_loss, F.l1_loss, optimizer, BATCHES)
    expect_close(model.weight.detach(), torch.tensor([[1.4]]), "the weight after train_epoch(…)")
