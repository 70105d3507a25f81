"""The suite of how_many_numbers."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


def frozen(part):
    return part.requires_grad_(False)


def half_frozen():
    model = nn.Linear(3, 2)
    frozen(model.bias)
    return model


def models(gen):
    a, b, c = torch.randint(2, 10, (3,), generator=gen).tolist()
    return {
        "one layer": given(nn.Linear(a, b)),
        "three layers, the first frozen": given(
            nn.Sequential(frozen(nn.Linear(a, b)), nn.ReLU(), nn.Linear(b, c))
        ),
        "layers within layers": given(nn.Sequential(nn.Sequential(nn.Linear(a, c)), nn.Linear(c, b))),
    }


def count(model, size, trained=lambda p: p.requires_grad):
    return sum(size(p) for p in model.parameters()), sum(size(p) for p in model.parameters() if trained(p))


contract = Contract(
    "how_many_numbers(model)",
    reference=lambda model: count(model, lambda p: p.numel()),
    example=[(given(nn.Linear(3, 2)), (8, 8)), (given(half_frozen()), (8, 6))],
    inputs=models,
    suspects={
        "the tensors are counted, not the numbers in them": lambda model: count(model, lambda p: 1),
        "the rows of each tensor are counted, not its numbers": lambda model: count(model, len),
        "frozen parameters are counted as trained": lambda model: count(
            model, lambda p: p.numel(), lambda p: True
        ),
        "the frozen ones are counted, not the trained ones": lambda model: count(
            model, lambda p: p.numel(), lambda p: not p.requires_grad
        ),
    },
)
