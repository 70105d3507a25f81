"""The contract of train_epoch."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal


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
        "the first batch's gradient counts in the second step again": lambda: torch.tensor([[1.44]]),
        "one step is taken for both batches": lambda: torch.tensor([[1.6]]),
    }
    weight, call = model.weight.detach(), "the weight after train_epoch(…)"
    expect_close(weight, torch.tensor([[1.64]]), call, before=torch.tensor([[2.0]]), suspects=suspects)
    expect_equal([type(loss).__name__ for loss in losses], ["float"] * 2, "the types in train_epoch(…)")
    expect_close(torch.tensor(losses), torch.tensor([1.0, 0.64]), "train_epoch(…)")


def test_gradients_are_there(answer):
    """on_gradients sees the gradient of each batch: 2, then 1.6."""
    model, optimizer, batches = worked_example()
    seen = []
    answer.train_epoch(model, F.mse_loss, optimizer, batches, lambda: seen.append(model.weight.grad))
    expect_equal(len(seen), 2, "the number of times that on_gradients is called")
    expect_equal([gradient is None for gradient in seen], [False, False], "whether on_gradients sees None")


def test_old_gradients(answer):
    """A gradient that is left from before has no influence."""
    model, optimizer, batches = worked_example()
    model.weight.grad = torch.tensor([[100.0]])
    answer.train_epoch(model, F.mse_loss, optimizer, batches[:1])
    suspects = {"the old gradient counts: clear it before the backward": lambda: torch.tensor([[-8.2]])}
    weight, call = model.weight.detach(), "the weight after train_epoch(…) with an old gradient"
    expect_close(weight, torch.tensor([[1.8]]), call, before=torch.tensor([[2.0]]), suspects=suspects)
