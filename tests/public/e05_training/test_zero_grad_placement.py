"""The worked example of train_epoch."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_number, expect_that


def worked_example():
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer, [(torch.tensor([[1.0]]), torch.tensor([[1.0]]))] * 2


def test_worked_example(answer):
    """The worked example of the statement comes out: the weight moves, and the losses are 1 and 0.64."""
    model, optimizer, batches = worked_example()
    losses = answer.train_epoch(model, F.mse_loss, optimizer, batches)
    suspects = {
        "the weight stays: `.grad` is cleared between backward and step, or no step is taken": lambda: (
            torch.tensor([[2.0]])
        ),
        "the first batch's gradient counts in the second step again": lambda: torch.tensor([[1.44]]),
        "one step is taken for both batches": lambda: torch.tensor([[1.6]]),
    }
    weight, call = model.weight.detach(), "the weight after train_epoch(…)"
    expect_close(weight, torch.tensor([[1.64]]), call, before=torch.tensor([[2.0]]), suspects=suspects)
    expect_equal(len(losses), 2, "the number of losses from train_epoch(…) with two batches")
    for number, (loss, wanted) in enumerate(zip(losses, [1.0, 0.64], strict=True)):
        expect_number(loss, wanted, f"train_epoch(…)[{number}]")


def test_gradients_are_there(answer):
    """on_gradients sees a gradient in each batch."""
    model, optimizer, batches = worked_example()
    seen, ran = [], []
    model.weight.register_hook(lambda _: ran.append("backward"))
    look = lambda: (ran.append("on_gradients"), seen.append(model.weight.grad))  # noqa: E731
    answer.train_epoch(model, F.mse_loss, optimizer, batches, look)
    suspects = {"on_gradients is never called": lambda: 0, "it is called for one batch alone": lambda: 1}
    expect_equal(len(seen), 2, "the number of times that on_gradients is called", suspects=suspects)
    before = "on_gradients is called before the backward: there are no gradients yet"
    likely = before if ran[0] == "on_gradients" else "`.grad` is cleared between backward and on_gradients"
    expect_that(seen[0] is not None, "on_gradients finds None in `.grad`", likely=likely)
