"""The suite of column_means."""

import torch

from grader.checks.contract import Contract

SIZES = [(2, 4), (3, 3), (5, 2)]

contract = Contract(
    "means_and_sums(sold)",
    reference=lambda sold: (sum(sold) / len(sold), torch.stack([row.sum() for row in sold])),
    example=([[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]], (torch.tensor([3.0, 4.0, 5.0]), torch.tensor([6.0, 18.0]))),
    inputs=lambda gen: [torch.rand(size, generator=gen) for size in SIZES],
    dims=("columns", "rows"),
    suspects={
        "dim=0 and dim=1 are confused: the dim that is named goes away": (
            lambda sold: (sold.mean(dim=1), sold.sum(dim=0))
        ),
        "one number for the whole table: `dim=` is missing": lambda sold: (sold.mean(), sold.sum()),
        "the sum and the mean are confused": lambda sold: (sold.sum(dim=0), sold.mean(dim=1)),
    },
)
