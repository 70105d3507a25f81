"""The suite of windows_of_days."""

import torch

from grader.checks.contract import Contract, given

SIZES = [(12, 4), (9, 3), (7, 2), (5, 5)]

contract = Contract(
    "weeks(days, size)",
    reference=lambda days, size: torch.stack([days[i : i + size] for i in range(len(days) - size + 1)]),
    example=(
        given(torch.tensor([5.0, 6.0, 8.0, 7.0, 9.0]), 3),
        [[5.0, 6.0, 8.0], [6.0, 8.0, 7.0], [8.0, 7.0, 9.0]],
    ),
    inputs=lambda gen: [given(torch.rand(days, generator=gen), size) for days, size in SIZES],
    suspects={
        "the windows do not overlap: each begins 1 behind the one before": lambda days, size: days.unfold(
            0, size, size
        ),
        "size and step are swapped: the size comes first": lambda days, size: days.unfold(0, 1, size),
        "the last window is missing: it ends with the last day": lambda days, size: days.unfold(0, size, 1)[
            :-1
        ],
        "each window stands in a column": lambda days, size: days.unfold(0, size, 1).T,
    },
)
