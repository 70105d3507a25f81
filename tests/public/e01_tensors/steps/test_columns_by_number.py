"""The suite of columns_by_number."""

import torch

from grader.checks.contract import Contract, given


def picks(gen):
    """More pupils than questions, and fewer; one number comes twice, and the largest does not come last."""
    for pupils, questions, n in [(6, 4, 5), (5, 5, 3), (4, 7, 4)]:
        ids = torch.randint(questions, (n,), generator=gen)
        ids[0], ids[-1] = min(pupils, questions) - 1, ids[1]
        yield given(torch.randint(1000, (pupils, questions), generator=gen), ids)


contract = Contract(
    "columns_by_number(points, ids)",
    reference=lambda points, ids: torch.stack([points[:, i] for i in ids.tolist()], dim=1),
    example=(([[5, 0, 3], [4, 1, 2]], [2, 0, 2]), [[3, 5, 3], [2, 4, 2]]),
    inputs=lambda gen: list(picks(gen)),
    suspects={
        "these are rows: the columns lie along dim 1": lambda points, ids: points[ids],
        "each column is a row here: they still have to stand side by side": lambda points, ids: points.T[ids],
        "a question that comes twice has its column only once": lambda points, ids: points[:, ids.unique()],
        "the columns stand in the order of the table, and not of ids": lambda points, ids: points[
            :, ids.sort().values
        ],
    },
)
