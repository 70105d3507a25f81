"""The suite of view_after_transpose."""

import torch

from grader.checks.contract import Contract

SIZES = [(2, 4), (4, 4), (5, 3)]

contract = Contract(
    "down_the_columns(x)",
    reference=lambda x: torch.cat(list(x.unbind(1))),
    example=([[1, 2, 3], [4, 5, 6]], [1, 4, 2, 5, 3, 6]),
    inputs=lambda gen: [torch.randint(100, size, generator=gen) for size in SIZES],
    suspects={
        "a transposed tensor has no `view` as one row: `reshape` copies where `view` cannot": (
            lambda x: x.t().view(-1)
        ),
        "the numbers come row by row: nothing is transposed before they are written out": (
            lambda x: x.reshape(-1)
        ),
    },
)
