"""The contract of accumulate_gradients."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_raises

CALL = "accumulated_step(model, loss_fn, optimizer, pieces)"


def example(*sizes):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 1.0)
    inputs = torch.tensor([[1.0], [2.0], [4.0]])
    pieces = [(piece, torch.zeros_like(piece)) for piece in inputs.split(sizes)]
    return model, torch.optim.SGD(model.parameters(), lr=0.1), pieces


def test_worked_example(answer):
    """The worked example of the statement comes out: a loss of 7, and the weight moves to -0.4."""
    model, optimizer, pieces = example(2, 1)
    loss = answer.accumulated_step(model, F.mse_loss, optimizer, pieces)
    suspects = {
        "a mean of the pieces' losses: weigh each by the number of its examples": lambda: 9.25,
        "the pieces' losses are added up": lambda: 18.5,
        "this is the last piece's share": lambda: 5.3333,
    }
    expect_equal(round(loss, 4), 7.0, CALL, suspects=suspects)
    suspects = {
        "the last piece's gradient alone counts": lambda: torch.tensor([[1 - 0.1 * 32 / 3]]),
        "the pieces' gradients are added up as they are": lambda: torch.tensor([[1 - 0.1 * 37]]),
        "every piece counts alike": lambda: torch.tensor([[1 - 0.1 * 18.5]]),
    }
    weight, call = model.weight.detach(), f"the weight after {CALL}"
    expect_close(weight, torch.tensor([[-0.4]]), call, before=torch.tensor([[1.0]]), suspects=suspects)


def test_one_piece(answer):
    """In one piece it is the usual step."""
    model, optimizer, pieces = example(3)
    loss = answer.accumulated_step(model, F.mse_loss, optimizer, pieces)
    expect_equal(round(loss, 4), 7.0, f"{CALL} with one piece")
    expect_close(model.weight.detach(), torch.tensor([[-0.4]]), f"the weight after {CALL} with one piece")


def test_no_examples(answer):
    """Without any example it raises ValueError."""
    model, optimizer, _ = example(3)
    expect_raises(
        ValueError,
        lambda: answer.accumulated_step(model, F.mse_loss, optimizer, []),
        f"{CALL} without pieces",
    )
