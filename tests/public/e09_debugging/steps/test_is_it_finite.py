"""The suite of is_it_finite."""

import math

import torch

from grader.checks.contract import Contract, given


def counts(x):
    numbers = x.flatten().tolist()
    return sum(map(math.isnan, numbers)), sum(map(math.isinf, numbers))


def drawn(gen, *size):
    kinds = torch.tensor([math.nan, math.inf, -math.inf, 0.0, 1.5, -2.0])
    return kinds[torch.randint(6, size, generator=gen)]


contract = Contract(
    "is_it_finite(x)",
    reference=counts,
    example=(given(torch.tensor([1.0, math.nan, -math.inf])), (1, 1)),
    inputs=lambda gen: [
        drawn(gen, 300),
        drawn(gen, 20, 30),
        torch.where(torch.rand(99, generator=gen) < 0.3, math.inf, torch.rand(99, generator=gen)),
        drawn(gen, 2, 30, 9),
    ],
    suspects={
        "NaN equals nothing, not even itself: torch.isnan finds it": lambda x: (0, counts(x)[1]),
        "infinities below 0 are not counted": lambda x: (counts(x)[0], int((x == math.inf).sum())),
        "NaN is counted as infinite as well": lambda x: (counts(x)[0], sum(counts(x))),
    },
)
