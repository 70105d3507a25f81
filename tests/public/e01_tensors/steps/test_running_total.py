"""The suite of running_total."""

import torch

from grader.checks.contract import Contract

SIZES = [(2, 4), (4, 4), (3, 7)]

contract = Contract(
    "running_total(sold)",
    reference=lambda sold: torch.stack([sold[:, : day + 1].sum(1) for day in range(sold.shape[1])], 1),
    example=([[1, 2, 3], [5, 0, 2]], [[1, 3, 6], [5, 5, 7]]),
    inputs=lambda gen: [torch.randint(50, size, generator=gen) for size in SIZES],
    dims="shops days",
    suspects={
        "the totals grow down the rows, from shop to shop": lambda sold: sold.cumsum(0),
        "each total leaves out its own day": lambda sold: sold.cumsum(1) - sold,
        "the total goes on from one shop to the next": lambda sold: sold.flatten().cumsum(0).view(sold.shape),
        "one total for each shop: `sum` tells only the last day": lambda sold: sold.sum(1),
    },
)
