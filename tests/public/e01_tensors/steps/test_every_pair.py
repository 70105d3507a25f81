"""The suite of every_pair."""

import torch

from grader.checks.contract import Contract

SIZES = [(3, 4), (3, 3), (5, 1)]

contract = Contract(
    "every_pair(a, b)",
    reference=lambda a, b: torch.stack([number - b for number in a]),
    example=(([10.0, 20.0, 30.0], [1.0, 2.0]), [[9.0, 8.0], [19.0, 18.0], [29.0, 28.0]]),
    inputs=lambda gen: {
        f"{n} and {m} trains": (torch.rand(n, generator=gen), torch.rand(m, generator=gen)) for n, m in SIZES
    },
    dims="a b",
    suspects={
        "two rows meet number by number: make a column of a": lambda a, b: a - b,
        "b is the column, and a the row": lambda a, b: a - b.unsqueeze(1),
        "these are sums: a minus b is asked for": lambda a, b: a.unsqueeze(1) + b,
        "it is b minus a": lambda a, b: b - a.unsqueeze(1),
    },
)
