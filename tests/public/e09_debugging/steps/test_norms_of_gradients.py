"""The suite of norms_of_gradients."""

from itertools import pairwise

import torch
from torch import nn

from grader.checks.contract import Contract, given
from grader.checks.registered import randomize


def backwarded():
    model = nn.Linear(2, 1)
    model.weight.grad, model.bias.grad = torch.tensor([[3.0, 4.0]]), torch.tensor([2.0])
    return model


def drawn(gen, *widths):
    layers = [nn.Linear(*pair) for pair in pairwise(widths)]
    model = nn.Sequential(*layers)
    randomize(model, gen)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=gen)
    return model


def norms(model, of=lambda p: p.grad):
    return {
        name: of(p).detach().double().square().sum().sqrt().item() for name, p in model.named_parameters()
    }


contract = Contract(
    "norms_of_gradients(model)",
    reference=norms,
    example=(given(backwarded()), {"weight": 5.0, "bias": 2.0}),
    inputs=lambda gen: {
        "of one layer": drawn(gen, 3, 2),
        "of two layers": drawn(gen, 4, 5, 2),
        "of three layers": drawn(gen, 2, 6, 3, 1),
    },
    suspects={
        "these are the norms of the parameters, not of their gradients": lambda model: norms(
            model, lambda p: p
        ),
        "the square root is missing": lambda model: {name: norm**2 for name, norm in norms(model).items()},
    },
)
