"""The suite of gradient_of_each_row."""

import torch

from grader.checks.contract import Contract, given


def cubes(row):
    return (row**3).sum()


def squared_sum(row):
    return row.sum() ** 2


def length(row):
    return row.square().sum().sqrt()


def slopes(f, x):
    return torch.stack([torch.func.grad(f)(row) for row in x.detach()])


contract = Contract(
    "gradients(f, x)",
    reference=slopes,
    example=(given(cubes, torch.tensor([[1.0, 2.0], [0.0, 3.0]])), [[3.0, 12.0], [0.0, 27.0]]),
    inputs=lambda gen: {
        "the sum of cubes": given(cubes, torch.randn(3, 4, generator=gen)),
        "the square of the sum": given(squared_sum, torch.randn(4, 2, generator=gen)),
        "the length": given(length, torch.randn(3, 3, generator=gen)),
    },
    suspects={
        "f was given all rows at once: `vmap` gives it row by row": lambda f, x: torch.func.grad(f)(x),
        "these are the values of f, and not its gradients": lambda f, x: torch.func.vmap(f)(x),
        "one gradient, of the sum or the mean of all rows": lambda f, x: slopes(f, x).mean(0),
        "`vmap` went along the columns: rows lie along dim 0": lambda f, x: slopes(f, x.T).T,
    },
)
