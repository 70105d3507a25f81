"""The suite of first_tensor."""

import torch

from grader.checks.contract import Contract, given


def rows(gen, columns):
    return tuple(torch.randint(100, (columns,), generator=gen).tolist() for _ in range(2))


contract = Contract(
    "first_tensor(first, second)",
    reference=lambda first, second: torch.tensor([first, second]),
    example=(given([3, 4, 0], [1, 5, 9]), [[3, 4, 0], [1, 5, 9]]),
    inputs=lambda gen: {f"rows of {columns} numbers": rows(gen, columns) for columns in (2, 4, 7)},
    suspects={
        "those are the numbers of the example: put those in that are given": (
            lambda first, second: torch.tensor([[3, 4, 0], [1, 5, 9]])
        ),
        "both lists stand in one row: `+` joins them; a list that holds both makes two rows": (
            lambda first, second: torch.tensor(first + second)
        ),
        "torch.tensor takes one list: put both into one more pair of brackets": torch.tensor,
        "only the first list is there": lambda first, second: torch.tensor(first),
        "each list became a column, and is to be a row": lambda first, second: (
            torch.tensor([first, second]).T
        ),
    },
)
