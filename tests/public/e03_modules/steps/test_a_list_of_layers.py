"""The suite of a_list_of_layers."""

import torch
from torch import nn

from grader.checks import expect_equal
from grader.checks.contract import Contract, given


def run(tower, x):
    """What comes out where all layers have other weights."""
    with torch.no_grad():
        for number, p in enumerate(tower.parameters()):
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(number)))
    return tower.to(x.dtype)(x).detach()


def layers(x, depth):
    return [nn.Linear(x.shape[1], x.shape[1]) for _ in range(depth)]


def with_relu(x, depth):
    return run(nn.Sequential(*[part for layer in layers(x, depth) for part in (layer, nn.ReLU())]), x)


def last_alone(x, depth):
    parts = layers(x, depth)
    run(nn.Sequential(*parts), x)
    return parts[-1](x).relu().detach()


def test_all_layers_are_found(answer):
    """Three layers have three weights and three biases."""
    suspects = {
        "a plain list hides its layers: put them into nn.ModuleList": lambda: 0,
        "one layer stands in all places: make a new one for each": lambda: 2,
    }
    count = len(list(answer.Tower(features=4, depth=3).parameters()))
    call = "the number of parameters in Tower(features=4, depth=3)"
    expect_equal(count, 6, call, suspects=suspects)


contract = Contract(
    "tower(x, depth)",
    reference=with_relu,
    inputs=lambda gen: {
        f"with {rows} rows of {features}": given(torch.randn(rows, features, generator=gen), depth)
        for rows, features, depth in [(5, 4, 3), (2, 6, 1), (3, 3, 5)]
    },
    use=lambda answer, x, depth: run(answer.Tower(x.shape[1], depth), x),
    suspects={
        "each layer is given x itself, and not what the layer before gave": last_alone,
        "there are always three layers: make as many as depth says": lambda x, depth: with_relu(x, 3),
        "the ReLU after each layer is missing": lambda x, depth: run(nn.Sequential(*layers(x, depth)), x),
    },
)
