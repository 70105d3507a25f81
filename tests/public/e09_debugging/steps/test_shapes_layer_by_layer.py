"""The suite of shapes_layer_by_layer."""

from itertools import pairwise

import torch
from torch import nn

from grader.checks.contract import Contract, given


def network(*widths):
    layers = [nn.Linear(*pair) for pair in pairwise(widths)]
    return nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())))


def drawn(gen, layers):
    rows, *widths = torch.randint(2, 60, (layers + 2,), generator=gen).tolist()
    return given(network(*widths), torch.rand(rows, widths[0], generator=gen))


def shapes(model, x):
    return [tuple(model[: n + 1](x).shape) for n in range(len(model))]


contract = Contract(
    "shapes_layer_by_layer(model, x)",
    reference=shapes,
    example=(
        given(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), torch.zeros(5, 4)),
        [(5, 3), (5, 3), (5, 2)],
    ),
    inputs=lambda gen: {f"with {2 * layers} layers": drawn(gen, layers) for layers in (1, 2, 4)},
    suspects={
        "every layer gets x itself: write x = layer(x), so that the next one gets the result": (
            lambda model, x: [tuple(layer(x).shape) for layer in model]
        ),
        "the shape of x itself comes first: each layer's result has one": lambda model, x: [
            tuple(x.shape),
            *shapes(model, x),
        ],
        "this is the last shape alone: each layer has one": lambda model, x: shapes(model, x)[-1:],
    },
)
