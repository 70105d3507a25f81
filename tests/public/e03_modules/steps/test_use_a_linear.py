"""The suite of use_a_linear."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


def use(answer, x, outputs):
    torch.manual_seed(0)
    y, weight, bias = answer.use_a_linear(x, outputs)
    return y, str(tuple(weight)), str(tuple(bias))


def made(x, features, outputs):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = nn.Linear(features, outputs).to(x.dtype)
    return layer(x).detach(), str(tuple(layer.weight.shape)), str(tuple(layer.bias.shape))


def swapped(x, outputs):
    return made(x, outputs, x.shape[1])


def other_order(x, outputs):
    y, weight, bias = made(x, x.shape[1], outputs)
    return y, bias, weight


def rows(gen):
    sizes = [(5, 3, 2), (2, 6, 1), (4, 4, 7)]
    return [given(torch.randn(n, features, generator=gen), outputs) for n, features, outputs in sizes]


contract = Contract(
    "use_a_linear(x, outputs)",
    reference=lambda x, outputs: made(x, x.shape[1], outputs),
    example=(given(torch.zeros(5, 3), 2), made(torch.zeros(5, 3), 3, 2)),
    inputs=rows,
    use=use,
    suspects={
        "the layer goes the wrong way: nn.Linear(size that goes in, size that comes out)": swapped,
        "the first size of nn.Linear is the length of a row, not the number of rows": lambda x, outputs: made(
            x, len(x), outputs
        ),
        "weight and bias change places": other_order,
    },
)
