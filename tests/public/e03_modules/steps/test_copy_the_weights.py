"""The suite of copy_the_weights."""

import copy

import torch
from torch import nn

from grader.checks.contract import Contract, given

NAMES, WEIGHTS = "the names", "b afterwards"


def use(answer, a, b):
    a, b = copy.deepcopy(a), copy.deepcopy(b)
    names = answer.copy_the_weights(a, b)
    with torch.no_grad():  # a trains on
        for t in a.state_dict().values():
            t += 1
    return {NAMES: names, WEIGHTS: dict(b.state_dict())}


def after(weights):
    return lambda a, b: {
        NAMES: list(a.state_dict()),
        WEIGHTS: {n: t.clone() for n, t in weights(a, b).items()},
    }


def filled(make, gen):
    model = make()
    with torch.no_grad():
        for t in model.state_dict().values():
            t.copy_(9 * torch.rand(t.shape, generator=gen))
    return model


def models(gen):
    kinds = {
        "one layer": lambda: nn.Linear(3, 2),
        "two layers": lambda: nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1)),
        "a layer with buffers": lambda: nn.BatchNorm1d(4),
    }
    return {about: given(filled(make, gen), filled(make, gen)) for about, make in kinds.items()}


contract = Contract(
    "copy_the_weights(a, b)",
    reference=after(lambda a, b: a.state_dict()),
    inputs=models,
    use=use,
    suspects={
        "the buffers are not copied, only the parameters": after(
            lambda a, b: {**b.state_dict(), **dict(a.named_parameters())}
        ),
        "b is as it was before: load the state dict into it": after(lambda a, b: b.state_dict()),
        "a and b share their weights, and training a changes b": after(
            lambda a, b: {n: t + 1 for n, t in a.state_dict().items()}
        ),
    },
)
