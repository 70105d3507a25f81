"""The worked example of train_step."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_number, expect_that

BEFORE = torch.tensor([[2.0]])


def worked_example(lr=0.1):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    return model, optimizer, torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [2.0]])


def test_worked_example(answer):
    """The worked example of the statement comes out: a loss of 8.5, and the weight moves to 0.7."""
    model, optimizer, inputs, targets = worked_example()
    loss = answer.train_step(model, F.mse_loss, optimizer, inputs, targets)
    after = {"this is the loss after the step: the one before it is asked for": lambda: 0.05}
    expect_number(loss, 8.5, "train_step(model, loss_fn, optimizer, inputs, targets)", suspects=after)
    weight, call = model.weight.detach(), "the weight after train_step(…)"
    expect_close(weight, torch.tensor([[0.7]]), call, before=BEFORE)


def test_loss_falls(answer):
    """The loss falls from step to step."""
    model, optimizer, inputs, targets = worked_example(lr=0.02)
    losses = [answer.train_step(model, F.mse_loss, optimizer, inputs, targets) for _ in range(3)]
    expect_that(losses[0] > losses[1] > losses[2], "the loss does not fall in three steps", yours=f"{losses}")
