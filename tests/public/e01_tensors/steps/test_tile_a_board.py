"""The suite of tile_a_board."""

import torch

from grader.checks.contract import Contract, given

FLOORS = [(2, 3, 3, 2), (3, 3, 2, 4), (1, 4, 4, 1), (4, 2, 1, 3)]

contract = Contract(
    "floor(pattern, n, m)",
    reference=lambda pattern, n, m: torch.cat([torch.cat([pattern] * m, dim=1)] * n),
    example=(given(torch.tensor([[1, 2], [3, 4]]), 1, 2), [[1, 2, 1, 2], [3, 4, 3, 4]]),
    inputs=lambda gen: [given(torch.randint(1000, size, generator=gen), n, m) for *size, n, m in FLOORS],
    suspects={
        "n and m are swapped: dim 0 goes down, and comes first": lambda pattern, n, m: pattern.repeat(m, n),
        "`repeat_interleave` repeats each row and column where it stands, 1 1 2 2: `repeat` gives 1 2 1 2": (
            lambda pattern, n, m: pattern.repeat_interleave(n, dim=0).repeat_interleave(m, dim=1)
        ),
        "it is repeated below each other only: `repeat` takes a number for each dim": (
            lambda pattern, n, m: pattern.repeat(n, 1)
        ),
        "there is a dim more: the copies are to stand in one table": lambda pattern, n, m: pattern.expand(
            n, m, *pattern.shape
        ),
    },
)
