"""The suite of either_or."""

import torch

from grader.checks.contract import Contract, given


def forecasts(gen, size):
    a, b = torch.randint(1, 100, (2, *size), generator=gen)
    return given(torch.rand(size, generator=gen) < 0.5, a, b)


contract = Contract(
    "either_or(condition, a, b)",
    reference=lambda condition, a, b: a * condition.long() + b * (1 - condition.long()),
    example=(([True, False, True], [1, 2, 3], [10, 20, 30]), [1, 20, 3]),
    inputs=lambda gen: {f"shape {size}": forecasts(gen, size) for size in [(8,), (3, 4), (6, 2)]},
    suspects={
        "a and b are swapped: a is for True": lambda condition, a, b: torch.where(condition, b, a),
        "there is 0 where b is wanted": lambda condition, a, b: a * condition,
        "these are the places where the condition is True, without a and b": lambda condition, a, b: (
            torch.where(condition)[0]
        ),
        "only the numbers of a are there, without b": lambda condition, a, b: a[condition],
        "`if` wants one True or False, and the condition has many: torch.where looks at each": (
            lambda condition, a, b: a if condition else b
        ),
    },
)
