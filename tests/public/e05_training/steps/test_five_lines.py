"""The suite of five_lines."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import Contract, given

RATE = torch.tensor(0.1)


def two_calls(step, weight, lr, x, y):
    """What two calls return, each on a batch of its own, and where the weight is then."""
    model = nn.Linear(weight.shape[1], 1, bias=False)
    model.weight = nn.Parameter(weight.clone())
    optimizer = torch.optim.SGD(model.parameters(), float(lr))
    losses = [step(model, optimizer, *batch) for batch in zip(x, y, strict=True)]
    return {
        "first loss": losses[0],
        "second loss": losses[1],
        "weight after two calls": model.weight.detach(),
    }


def five_lines(model, optimizer, x, y, clear=True, move=True, again=False):
    loss = F.mse_loss(model(x), y)
    if clear:
        optimizer.zero_grad()
    loss.backward()
    if move:
        optimizer.step()
    return (F.mse_loss(model(x), y) if again else loss).item()


def draw(gen):
    sizes = [(4, 1), (3, 2), (6, 3)]
    return {
        f"{rows} rows of {n} features": given(
            torch.randn(1, n, generator=gen),
            RATE,
            torch.randn(2, rows, n, generator=gen),
            torch.randn(2, rows, 1, generator=gen),
        )
        for rows, n in sizes
    }


X, Y = torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [2.0]])

contract = Contract(
    "five_lines(model, optimizer, x, y)",
    reference=partial(two_calls, five_lines),
    example=(
        given(torch.tensor([[2.0]]), RATE, torch.stack([X, X]), torch.stack([Y, Y])),
        {"first loss": 8.5, "second loss": 0.05, "weight after two calls": torch.tensor([[0.7]])},
    ),
    inputs=draw,
    suspects={
        "the second call still has the gradients of the first: clear them before backward": partial(
            two_calls, partial(five_lines, clear=False)
        ),
        "the weight stays: are backward and step there, and are gradients cleared before backward?": (
            partial(two_calls, partial(five_lines, move=False))
        ),
        "this is the loss after the step, and the one before it is asked for": partial(
            two_calls, partial(five_lines, again=True)
        ),
    },
    use=lambda answer, *given: two_calls(answer.five_lines, *given),
)
