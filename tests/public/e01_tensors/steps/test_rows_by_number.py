"""The suite of rows_by_number."""

import torch

from grader.checks.contract import Contract, given


def lookups(gen):
    """Texts longer and shorter than the table; one number comes twice, and the largest does not come last."""
    for words, dim, n in [(4, 5, 6), (5, 5, 3), (3, 8, 4)]:
        ids = torch.randint(words, (n,), generator=gen)
        ids[0], ids[-1] = words - 1, ids[1]
        yield given(torch.randn(words, dim, generator=gen), ids)


contract = Contract(
    "rows_by_number(table, ids)",
    reference=lambda table, ids: torch.stack([table[i] for i in ids.tolist()]),
    example=(([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0, 2]), [[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]]),
    inputs=lambda gen: list(lookups(gen)),
    suspects={
        "these are columns: in brackets, rows come first": lambda table, ids: table[:, ids],
        "a word that comes twice has its row only once": lambda table, ids: table[ids.unique()],
        "the rows stand in the order of the table, and not of ids": lambda table, ids: table[
            ids.sort().values
        ],
    },
)
