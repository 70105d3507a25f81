"""The suite of row_column_element."""

import torch

from grader.checks.contract import Contract, given


def tables(gen):
    for rows, columns, i, j in [(4, 4, 2, 1), (3, 5, 1, 4), (5, 2, 4, 0)]:
        yield given(torch.randint(100, 1000, (rows, columns), generator=gen), i, j)


contract = Contract(
    "row_column_element(x, i, j)",
    reference=lambda x, i, j: (x[i], x.T[j], x[i][j]),
    example=(
        given(torch.tensor([[1, 2, 3], [4, 5, 6]]), 1, 0),
        (torch.tensor([4, 5, 6]), torch.tensor([1, 4]), torch.tensor(4)),
    ),
    inputs=lambda gen: list(tables(gen)),
    suspects={
        "that is a row: a column needs `:` for all rows, and j in the same brackets": lambda x, i, j: (
            x[i],
            x[:][j],
            x[i, j],
        ),
        "i and j are swapped": lambda x, i, j: (x[:, j], x[i], x[j, i]),
    },
)
