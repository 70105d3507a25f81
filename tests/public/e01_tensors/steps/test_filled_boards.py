"""The suite of filled_boards."""

import torch

from grader.checks.contract import Contract, given


def boards(rows, columns, value):
    return torch.zeros(rows, columns), torch.ones(rows, columns), torch.full((rows, columns), value)


def boards_of(gen):
    sizes = torch.randint(2, 30, (3, 2), generator=gen).tolist()
    values = torch.randint(100, (3,), generator=gen).tolist()
    boards = zip(sizes, values, strict=True)
    return {f"{size[0]} rows": given(*size, value + 0.5) for size, value in boards}


contract = Contract(
    "filled_boards(rows, columns, value)",
    reference=boards,
    example=(
        given(2, 3, 7.5),
        (torch.zeros(2, 3), torch.ones(2, 3), torch.tensor([[7.5, 7.5, 7.5], [7.5, 7.5, 7.5]])),
    ),
    inputs=boards_of,
    suspects={
        "the third board holds ones, and not value": lambda rows, columns, value: boards(rows, columns, 1.0),
        "rows and columns are swapped": lambda rows, columns, value: boards(columns, rows, value),
        "torch.full takes the shape as one tuple, in brackets of its own": torch.full,
        "a board of one row: torch.full was told only one size": lambda rows, columns, value: (
            *boards(rows, columns, value)[:2],
            torch.full((columns,), value),
        ),
    },
)
