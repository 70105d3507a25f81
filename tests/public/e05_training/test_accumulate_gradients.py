"""The worked example of accumulate_gradients."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_number

CALL = "accumulated_step(model, loss_fn, optimizer, pieces)"
WEIGHT = f"the weight after {CALL}"


def example(*sizes):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 1.0)
    inputs = torch.tensor([[1.0], [2.0], [4.0]])
    pieces = [(piece, torch.zeros_like(piece)) for piece in inputs.split(sizes)]
    return model, torch.optim.SGD(model.parameters(), lr=0.1), pieces


def moved(gradient):
    return lambda: torch.tensor([[1 - 0.1 * gradient]])


def test_worked_example(answer):
    """The worked example of the statement comes out: a loss of 7, and the weight moves to -0.4."""
    model, optimizer, pieces = example(2, 1)
    loss = answer.accumulated_step(model, F.mse_loss, optimizer, pieces)
    suspects = {
        "this is the mean of the pieces' losses: the second is half as large": lambda: 9.25,
        "the pieces' losses are added up as they are": lambda: 18.5,
        "this is the last piece's loss": lambda: 16.0,
        "this is the last piece's share": lambda: 16 / 3,
    }
    expect_number(loss, 7.0, CALL, suspects=suspects)
    suspects = {
        "the last piece alone counts: its backward finds the gradients cleared": moved(32 / 3),
        "the pieces' gradients are added up as they are": moved(37.0),
        "every piece counts alike: the second is half as large": moved(18.5),
    }
    before, weight = torch.tensor([[1.0]]), model.weight.detach()
    expect_close(weight, torch.tensor([[-0.4]]), WEIGHT, before=before, suspects=suspects)


def test_second_call(answer):
    """A second step goes by its own gradients: from -0.4 the weight moves to 0.16."""
    model, optimizer, pieces = example(2, 1)
    for _ in range(2):
        answer.accumulated_step(model, F.mse_loss, optimizer, [*pieces])
    both = {"the first call's gradients are in it: clear them in every call": lambda: torch.tensor([[-1.24]])}
    before, weight = torch.tensor([[-0.4]]), model.weight.detach()
    expect_close(weight, torch.tensor([[0.16]]), f"{WEIGHT}, a second time", before=before, suspects=both)


def test_one_piece(answer):
    """In one piece it is the usual step."""
    model, optimizer, pieces = example(3)
    expect_number(
        answer.accumulated_step(model, F.mse_loss, optimizer, pieces), 7.0, f"{CALL} with one piece"
    )
    expect_close(model.weight.detach(), torch.tensor([[-0.4]]), f"{WEIGHT} with one piece")
