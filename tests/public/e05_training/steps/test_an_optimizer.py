"""The suite of an_optimizer."""

from functools import partial

import torch
from torch import nn

from grader.checks import expect_that
from grader.checks.contract import Contract, given


def moved(make, weight, lr):
    """What two steps make of the weight and the bias, where the loss is the sum of the outputs."""
    model = nn.Linear(*weight.shape[::-1])
    model.weight, model.bias = nn.Parameter(weight.clone()), nn.Parameter(weight[:, 0].clone())
    optimizer = make(model, lr)
    is_one = isinstance(optimizer, torch.optim.Optimizer)
    expect_that(is_one, "an_optimizer(model, lr) returns no optimizer", yours=optimizer)
    for factor in (1.0, 3.0):
        optimizer.zero_grad()
        (factor * model(torch.ones_like(weight))).sum().backward()
        optimizer.step()
    return {"the weight": model.weight.detach(), "the bias": model.bias.detach()}


def draw(gen):
    sizes = {(2, 3): 0.01, (4, 1): 0.1, (1, 5): 0.25}
    return {
        f"after two steps with lr={lr}": given(torch.randn(size, generator=gen), lr)
        for size, lr in sizes.items()
    }


contract = Contract(
    "an_optimizer(model, lr)",
    reference=partial(moved, lambda model, lr: torch.optim.AdamW(model.parameters(), lr)),
    inputs=draw,
    suspects={
        "this is SGD, and AdamW is asked for": partial(
            moved, lambda model, lr: torch.optim.SGD(model.parameters(), lr)
        ),
        "this is Adam, and AdamW is asked for": partial(
            moved, lambda model, lr: torch.optim.Adam(model.parameters(), lr)
        ),
        "the learning rate is not the one that is given: hand it on as lr=lr": partial(
            moved, lambda model, lr: torch.optim.AdamW(model.parameters())
        ),
        "the bias does not move: hand over all parameters of the model": partial(
            moved, lambda model, lr: torch.optim.AdamW([model.weight], lr)
        ),
    },
    use=lambda answer, *given: moved(answer.an_optimizer, *given),
)
