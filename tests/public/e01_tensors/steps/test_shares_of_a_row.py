"""The suite of shares_of_a_row."""

import torch

from grader.checks.contract import Contract

SIZES = [(2, 3), (4, 4), (1, 5)]  # of 4 × 4, columns divide without an error

contract = Contract(
    "shares_of_a_row(sold)",
    reference=lambda sold: torch.stack([row / row.sum() for row in sold]),
    example=([[1.0, 3.0], [5.0, 5.0]], [[0.25, 0.75], [0.5, 0.5]]),
    inputs=lambda gen: [torch.rand(size, generator=gen) + 0.1 for size in SIZES],
    suspects={
        "the sum of the whole table is taken: each row has one of its own": lambda sold: sold / sold.sum(),
        "each column is divided by a sum: keepdim is missing": lambda sold: sold / sold.sum(1),
        "the shares are those of a column: the sum of a row is taken along dim=1": lambda sold: (
            sold / sold.sum(0)
        ),
    },
)
