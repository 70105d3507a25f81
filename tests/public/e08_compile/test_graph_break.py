"""The worked example of bounded_residual, and that it compiles."""

import math

import torch

from grader.checks.compile.graphs import expect_compiles
from grader.checks.contract import Contract, given

X, UPDATE = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -3.0]])


def result(numbers, rms):
    return torch.tensor([numbers]), torch.tensor(rms)


def with_rms(make):
    return lambda x, update, limit=1.0: (make(x, update), update.square().mean().sqrt().float())


contract = Contract(
    "bounded_residual(x, update, limit)",
    example=[
        (given(X, UPDATE, 5.0), result([4.0, -1.0], 3.0)),
        (given(X, UPDATE), result([2.0, 1.0], 3.0)),
        (given(X, UPDATE / torch.zeros(2)), result([1.0, 2.0], math.inf)),
    ],
    dims=("rows dim", ""),
    suspects={
        "the update is added as it is": with_rms(lambda x, update: x + update),
        "the update is skipped": with_rms(lambda x, update: x),
    },
)


def test_one_graph(answer):
    """It compiles in one graph."""
    expect_compiles(answer.bounded_residual, [(X, UPDATE)], "bounded_residual(x, update)")
