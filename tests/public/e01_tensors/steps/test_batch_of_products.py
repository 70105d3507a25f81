"""The suite of batch_of_products."""

import torch

from grader.checks.contract import Contract

SIZES = [((3, 2, 4), (3, 5, 4)), ((2, 3, 3), (2, 3, 3)), ((4, 4, 4), (4, 4, 4))]

contract = Contract(
    "fits(players, tasks)",
    reference=lambda players, tasks: torch.stack([p @ t.T for p, t in zip(players, tasks, strict=True)]),
    example=(([[[1.0, 2.0]], [[3.0, 4.0]]], [[[5.0, 0.0]], [[1.0, 1.0]]]), [[[5.0]], [[7.0]]]),
    inputs=lambda gen: [tuple(torch.rand(size, generator=gen) for size in pair) for pair in SIZES],
    suspects={
        "rows of tasks have to become columns: `tasks.transpose(1, 2)`": torch.bmm,
        "dims 0 and 1 changed places: each game's matrix is turned by `transpose(1, 2)`": (
            lambda players, tasks: torch.bmm(players, tasks.transpose(0, 1))
        ),
        "these are tasks by players": lambda players, tasks: torch.bmm(tasks, players.transpose(1, 2)),
        "`*` multiplies number by number: `bmm` also adds up over the skills": torch.mul,
    },
)
