"""The suite of two_learning_rates."""

from collections import OrderedDict

import torch
from torch import nn

from grader.checks import expect_that
from grader.checks.contract import Contract, given


def run(make, body, small, large):
    """Where all weights are after a step from 2.0, where the gradients of either layer are `body`."""
    names = {"body": nn.Linear(*body.shape[::-1]), "head": nn.Linear(*body.shape[::-1])}
    model = nn.Sequential(OrderedDict(names)).to(body.dtype)
    optimizer = make(model, small, large)
    is_one = isinstance(optimizer, torch.optim.Optimizer)
    expect_that(is_one, "two_learning_rates(model, small, large) returns no optimizer", yours=optimizer)
    for p in model.parameters():
        nn.init.constant_(p, 2.0)
        p.grad = body.clone() if p.ndim == 2 else body[:, 0].clone()
    optimizer.step()
    return {name: p.detach() for name, p in model.named_parameters()}


def moved(body, small, large):
    rates = {"body": small, "head": large}
    gradients = {"weight": body, "bias": body[:, 0]}
    return {f"{b}.{n}": 2.0 - lr * g for b, lr in rates.items() for n, g in gradients.items()}


def draw(gen):
    sizes = {(1, 1): (0.01, 0.5), (3, 2): (0.001, 0.1), (2, 5): (0.2, 1.0)}
    return {
        f"rates {rates}": given(torch.randn(size, generator=gen), *rates) for size, rates in sizes.items()
    }


contract = Contract(
    "two_learning_rates(model, small, large)",
    reference=moved,
    example=(given(torch.ones(1, 1), 0.01, 0.5), moved(torch.ones(1, 1), 0.01, 0.5)),
    inputs=draw,
    suspects={
        "the body moves with the large rate: it needs a group of its own, with the small one": (
            lambda body, small, large: moved(body, large, large)
        ),
        "the head moves with the small rate: it needs a group of its own, with the large one": (
            lambda body, small, large: moved(body, small, small)
        ),
        "the body does not move at all: it needs a group of its own": lambda body, small, large: moved(
            body, 0.0, large
        ),
        "the head does not move at all: it needs a group of its own": lambda body, small, large: moved(
            body, small, 0.0
        ),
    },
    use=lambda answer, *given: run(answer.two_learning_rates, *given),
)
