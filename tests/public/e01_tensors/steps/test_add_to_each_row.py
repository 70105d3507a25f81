"""The suite of add_to_each_row."""

import torch

from grader.checks.contract import Contract

X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
SIZES = [(2, 4), (3, 3), (5, 1)]  # of 3 × 3, rows and columns are confused without an error


def with_one_for(dim):
    return lambda gen: [
        (torch.rand(size, generator=gen), torch.rand(size[dim], generator=gen)) for size in SIZES
    ]


columns = Contract(
    "add_to_columns(x, bias)",
    reference=lambda x, bias: torch.stack([row + bias for row in x]),
    example=((X, [10.0, 20.0]), [[11.0, 22.0], [13.0, 24.0], [15.0, 26.0]]),
    inputs=with_one_for(1),
    suspects={
        "each row gets a number, where each column should": lambda x, bias: x + bias.unsqueeze(1),
        "every column gets the first number": lambda x, bias: x + bias[0],
    },
)
rows = Contract(
    "scale_rows(x, factors)",
    reference=lambda x, factors: torch.stack([row * factors[i] for i, row in enumerate(x)]),
    example=((X, [1.0, 0.0, 2.0]), [[1.0, 2.0], [0.0, 0.0], [10.0, 12.0]]),
    inputs=with_one_for(0),
    suspects={
        "the factors are laid along the columns: unsqueeze(1) makes a column of them": lambda x, factors: (
            x * factors
        ),
    },
)
