"""The suite of my_own_parameter."""

import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, given


def use(answer, x, factor):
    scale = answer.Scale(x.shape[1])
    for p in scale.parameters():
        p.data = factor
    return scale(x)


def test_learned(answer):
    """The factors are the one parameter of the module."""
    suspects = {"a plain tensor is not learned: wrap it in nn.Parameter(...)": lambda: 0}
    parameters = list(answer.Scale(features=2).parameters())
    expect_equal(len(parameters), 1, "the number of parameters in Scale(features=2)", suspects=suspects)
    suspects = {"one factor for all: each feature has its own": lambda: [1]}
    call = "the shape of the parameter of Scale(features=2)"
    expect_equal(list(parameters[0].shape), [2], call, suspects=suspects)


def test_starts_at_one(answer):
    """Before training, everything comes out as it went in."""
    x = torch.tensor([[3.0, 4.0]])
    scale = answer.Scale(features=2)
    suspects = {"the factors do not start at 1: torch.ones(features)": lambda: x * next(scale.parameters())}
    call = "Scale(features=2)(torch.tensor([[3.0, 4.0]]))"
    expect_equal(scale(x).detach(), x, call, suspects=suspects)


contract = Contract(
    "scale(x, factor)",
    reference=lambda x, factor: x * factor,
    example=(([[3.0, 4.0]], [10.0, 0.5]), [[30.0, 2.0]]),
    inputs=lambda gen: [
        given(torch.randn(rows, size, generator=gen), torch.randn(size, generator=gen))
        for rows, size in [(5, 4), (3, 3), (1, 6)]
    ],
    use=use,
    suspects={"the factors that it has learned are not used": lambda x, factor: x},
)
