"""The suite of angles_of_positions."""

import torch

from grader.checks.contract import Contract, given


def angles(time, dim, power=lambda i, dim: -2 * i / dim, first=0):
    rows = [[(t + first) * 10000.0 ** power(i, dim) for i in range(dim // 2)] for t in range(time)]
    return torch.tensor(rows)


def draw(gen):
    times = (torch.randint(3, 40, (3,), generator=gen)).tolist()
    dims = ((torch.randint(3, (3,), generator=gen) + torch.tensor([3, 6, 9])) * 2).tolist()
    return {f"{t} positions, {d} features": given(t, d) for t, d in zip(times, dims, strict=True)}


contract = Contract(
    "angles_of_positions(time, dim)",
    reference=angles,
    example=(given(3, 4), torch.tensor([[0.0, 0.0], [1.0, 0.01], [2.0, 0.02]])),
    inputs=draw,
    dims="position pair",
    ulps=32,  # powers are rounded in other ways
    suspects={
        "pair i has 2 * i in its power: i alone is half of it": lambda time, dim: angles(
            time, dim, lambda i, dim: -i / dim
        ),
        "the pairs turn faster and faster: the power is below 0": lambda time, dim: angles(
            time, dim, lambda i, dim: 2 * i / dim
        ),
        "positions begin at 1: they begin at 0": lambda time, dim: angles(time, dim, first=1),
        "each feature has an angle: a pair has one, so there are dim / 2": lambda time, dim: angles(
            time, 2 * dim, lambda i, dim: -2 * i / dim
        ),
        "the columns are positions: a row for each position": lambda time, dim: angles(time, dim).T,
    },
)
