"""The suite of count_up."""

import torch

from grader.checks.contract import Contract, given


def rulers(stop, n):
    return torch.tensor(range(0, stop, 2)), torch.tensor([i / (n - 1) for i in range(n)])


def drawn(gen):
    stops, points = torch.randint(5, 30, (2, 3), generator=gen).tolist()
    stops = [2 * stops[0], 2 * stops[1] + 1, 2 * stops[2]]
    return {f"stop={stop} and n={n}": given(stop, n) for stop, n in zip(stops, points, strict=True)}


contract = Contract(
    "count_up(stop, n)",
    reference=rulers,
    example=(given(8, 5), (torch.tensor([0, 2, 4, 6]), torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0]))),
    inputs=drawn,
    suspects={
        "stop itself is among the even numbers, and is to be left out": lambda stop, n: (
            torch.arange(0, stop + 1, 2),
            rulers(stop, n)[1],
        ),
        "1 is not reached: torch.arange leaves out its end": lambda stop, n: (
            rulers(stop, n)[0],
            torch.arange(0, 1, 1 / n),
        ),
        "two arguments of torch.arange are a start and an end: the step is the third": lambda stop, n: (
            torch.arange(2, stop),
            rulers(stop, n)[1],
        ),
        "these are all whole numbers below stop: the step is missing": lambda stop, n: (
            torch.arange(stop),
            rulers(stop, n)[1],
        ),
    },
)
