"""The suite of cut_a_window."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "cut_a_window(x)",
    reference=lambda x: torch.stack([torch.stack([row[0], row[1]]) for row in x[1:]]),
    example=([[0, 1, 2], [3, 4, 5], [6, 7, 8]], [[3, 4], [6, 7]]),
    inputs=lambda gen: [torch.randint(100, size, generator=gen) for size in [(4, 3), (3, 6), (6, 2)]],
    suspects={
        "two pairs of brackets cut rows twice: both slices belong into one, with a comma": lambda x: x[1:][
            :2
        ],
        "the slices stand in the wrong order: rows come first": lambda x: x[:2, 1:],
        "the first row is still there": lambda x: x[:, :2],
        "`:2` ends before 2, and so takes columns 0 and 1": lambda x: x[1:, :1],
        "that takes column 2, too: a slice ends before its end": lambda x: x[1:, :3],
    },
)
