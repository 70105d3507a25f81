"""The suite of last_of_each."""

import torch

from grader.checks.contract import Contract

SIZES = [(3, 4), (4,), (2, 3, 4), (2, 2, 3, 2)]

contract = Contract(
    "last_of_each(x)",
    reference=lambda x: x.select(x.ndim - 1, x.shape[-1] - 1),
    example=[([[1, 2, 3], [4, 5, 6]], [3, 6]), ([1, 2, 3], torch.tensor(3))],
    inputs=lambda gen: [torch.randint(100, size, generator=gen) for size in SIZES],
    suspects={
        "that is right for a table only: `...` stands for any number of dims, `:` for one": lambda x: x[
            :, -1
        ],
        "that is the last along the first dim, the last row of a table": lambda x: x[-1],
        "the last dim is still there, with one number: -1, and not -1:": lambda x: x[..., -1:],
        "that is the first along the last dim": lambda x: x[..., 0],
    },
)
