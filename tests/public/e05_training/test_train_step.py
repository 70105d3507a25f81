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


def mse(predictions, targets):
    swapped = "loss_fn is given the targets first: it takes the predictions, then the targets"
    expect_that(not targets.requires_grad, swapped, likely="loss_fn(model(inputs), targets)")
    return F.mse_loss(predictions, targets)


def test_worked_example(answer):
    """The worked example of the statement comes out: a loss of 8.5, and the weight moves to 0.7."""
    model, optimizer, inputs, targets = worked_example()
    loss = answer.train_step(model, mse, optimizer, inputs, targets)
    after = {"this is the loss after the step: the one before it is asked for": lambda: 0.05}
    expect_number(loss, 8.5, "train_step(model, loss_fn, optimizer, inputs, targets)", suspects=after)
    weight, call = model.weight.detach(), "the weight after train_step(…)"
    suspects = {
        "the weight stays: are backward and step there, and is `.grad` cleared before backward?": lambda: (
            BEFORE
        ),
        "two steps are taken": lambda: torch.tensor([[-0.6]]),
    }
    expect_close(weight, torch.tensor([[0.7]]), call, before=BEFORE, suspects=suspects)


def test_second_step(answer):
    """The second step goes by its own gradient, which is 0 here: the weight stays at 0.7."""
    model, optimizer, inputs, targets = worked_example()
    for _ in range(2):
        answer.train_step(model, F.mse_loss, optimizer, inputs, targets)
    both = {"the first step's gradient is in it: clear `.grad` in every call": lambda: torch.tensor([[-0.6]])}
    weight, call = model.weight.detach(), "the weight after a second train_step(…)"
    expect_close(weight, torch.tensor([[0.7]]), call, suspects=both)


def test_loss_falls(answer):
    """The loss falls from step to step."""
    model, optimizer, inputs, targets = worked_example(lr=0.02)
    losses = [answer.train_step(model, F.mse_loss, optimizer, inputs, targets) for _ in range(3)]
    expect_that(losses[0] > losses[1] > losses[2], "the loss does not fall in three steps", yours=f"{losses}")
