"""The suite of fold_into_rows."""

import torch

from grader.checks.contract import Contract, given


def rows_of(gen):
    for rows, width in [(2, 5), (4, 3), (3, 3), (1, 4)]:
        yield given(torch.randint(100, (rows * width,), generator=gen), width)


contract = Contract(
    "fold_into_rows(x, width)",
    reference=lambda x, width: torch.tensor([x[i : i + width].tolist() for i in range(0, len(x), width)]),
    example=(given(torch.tensor([0, 1, 2, 3, 4, 5]), 3), [[0, 1, 2], [3, 4, 5]]),
    inputs=lambda gen: list(rows_of(gen)),
    suspects={
        "there are `width` rows, and `width` columns are wanted: a shape begins with the rows": (
            lambda x, width: x.view(width, -1)
        ),
        "the numbers run down the columns, and are to fill one row after the other": lambda x, width: (
            x.view(width, -1).T
        ),
        "a table has two sizes: one of them may be -1": lambda x, width: x.view(width),
    },
)
