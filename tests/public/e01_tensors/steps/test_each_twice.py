"""The suite of each_twice."""

import torch

from grader.checks.contract import Contract, given

TABLES = [(2, 3, 3), (3, 3, 2), (4, 2, 3)]

contract = Contract(
    "each_row(x, n)",
    reference=lambda x, n: torch.stack([row for row in x for _ in range(n)]),
    example=(given(torch.tensor([[1, 2], [3, 4]]), 2), [[1, 2], [1, 2], [3, 4], [3, 4]]),
    inputs=lambda gen: [given(torch.randint(100, size, generator=gen), n) for *size, n in TABLES],
    suspects={
        "each row stands there twice, whatever n is": lambda x, n: x.repeat_interleave(2, dim=0),
        "the whole table is repeated, a b a b: `repeat_interleave` gives a a b b": lambda x, n: x.repeat(
            n, 1
        ),
        "one long row: `dim=` is missing": lambda x, n: x.repeat_interleave(n),
        "each column is repeated, and not each row": lambda x, n: x.repeat_interleave(n, dim=1),
    },
)
