"""The suite of only_positive."""

import torch

from grader.checks.contract import Contract


def amounts(gen):
    """Numbers on both sides of 0, and a 0 in front."""
    for size in [(3, 4), (6,), (2, 3, 2)]:
        x = torch.randint(-9, 10, size, generator=gen) + torch.rand(size, generator=gen)
        x[(0,) * len(size)] = 0.0
        yield x


contract = Contract(
    "only_positive(x)",
    reference=lambda x: torch.tensor([number for number in x.flatten().tolist() if number > 0]),
    example=([[3.0, -1.0], [0.0, 2.0]], [3.0, 2.0]),
    inputs=lambda gen: list(amounts(gen)),
    suspects={
        "0 is among them, and is not above 0": lambda x: x[x >= 0],
        "that is the mask: put it between the brackets of x": lambda x: x > 0,
        "the others became 0, and are to be left out": lambda x: x * (x > 0),
        "these are the numbers below 0": lambda x: x[x < 0],
        "`if` wants one True or False, and a mask has many: put it between the brackets of x": (
            lambda x: bool(x > 0)
        ),
    },
)
