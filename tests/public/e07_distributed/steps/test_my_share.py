"""The suite of my_share."""

import torch

from grader.checks.contract import Contract, given


def drawn(gen, rows, rank, world_size):
    return given(torch.randn(rows, 2, generator=gen), rank, world_size)


ROWS = [[1.0], [1.1], [1.2], [1.3], [1.4]]

contract = Contract(
    "my_share(x, rank, world_size)",
    reference=lambda x, rank, n: torch.stack([row for place, row in enumerate(x) if place % n == rank]),
    example=[
        ((ROWS, 0, 2), [[1.0], [1.2], [1.4]]),
        ((ROWS, 1, 2), [[1.1], [1.3]]),
    ],
    inputs=lambda gen: {
        "rank 1 of 3, as many rows for each": drawn(gen, 6, 1, 3),
        "rank 2 of 3": drawn(gen, 10, 2, 3),
        "rank 3 of 4": drawn(gen, 11, 3, 4),
        "rank 0 of 1, which takes all": drawn(gen, 4, 0, 1),
    },
    dims="share features",
    suspects={
        "these are rows that stand together: take every n-th row": lambda x, rank, n: x.chunk(n)[rank],
        "every rank begins with row 0": lambda x, rank, n: x[::n],
        "every row from the rank's first on is here: the step is missing": lambda x, rank, n: x[rank:],
        "these are the rows from rank up to world_size: a step comes after two colons": (
            lambda x, rank, n: x[rank:n]
        ),
        "start and step are exchanged": lambda x, rank, n: x[n :: max(rank, 1)],
    },
)
