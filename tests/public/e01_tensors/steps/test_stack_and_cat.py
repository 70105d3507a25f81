"""The suite of stack_and_cat."""

import torch

from grader.checks.contract import Contract

ROWS = (torch.tensor([1, 2]), torch.tensor([3, 4]), torch.tensor([5, 6]))


def rows(gen, *lengths):
    return tuple(torch.randint(100, (n,), generator=gen) for n in lengths)


stacked = Contract(
    "on_top(a, b, c)",
    reference=lambda a, b, c: torch.stack((a, b, c)),
    example=(ROWS, [[1, 2], [3, 4], [5, 6]]),
    inputs=lambda gen: {f"rows of {n}": rows(gen, n, n, n) for n in (3, 4)},
    suspects={
        "`cat` adds no dim: the rows stand end to end": lambda a, b, c: torch.cat((a, b, c)),
        "each sensor became a column": lambda a, b, c: torch.stack((a, b, c), 1),
    },
)
joined = Contract(
    "end_to_end(a, b, c)",
    reference=lambda a, b, c: torch.cat((a, b, c)),
    example=(ROWS, [1, 2, 3, 4, 5, 6]),
    inputs=lambda gen: {"rows of 3": rows(gen, 3, 3, 3), "rows of 2, 4 and 1": rows(gen, 2, 4, 1)},
    suspects={
        "`stack` adds a dim, and wants equal shapes: `cat` joins rows": lambda a, b, c: torch.stack((a, b, c))
    },
)
