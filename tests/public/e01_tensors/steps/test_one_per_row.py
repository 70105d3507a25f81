"""The suite of one_per_row."""

import torch

from grader.checks.contract import Contract, given


def scored(gen):
    for rows, columns in [(3, 4), (4, 4), (6, 3)]:
        scores = torch.randint(1000, (rows, columns), generator=gen)
        yield given(scores, torch.randint(columns, (rows,), generator=gen))


contract = Contract(
    "one_per_row(scores, classes)",
    reference=lambda scores, classes: torch.stack([row[c] for row, c in zip(scores, classes, strict=True)]),
    example=(([[5, 6, 0, 1], [7, 8, 2, 2]], [1, 0]), [6, 7]),
    inputs=lambda gen: list(scored(gen)),
    suspects={
        "gather wants a table as its index: `unsqueeze(1)` makes a column of classes": (
            lambda scores, classes: scores.gather(1, classes)
        ),
        "that is still a column: `squeeze(1)` makes a row of it": lambda scores, classes: scores.gather(
            1, classes.unsqueeze(1)
        ),
        "each row gave the columns of all rows: `scores[:, classes]` does not go row by row": (
            lambda scores, classes: scores[:, classes]
        ),
        "these are whole rows": lambda scores, classes: scores[classes],
        "these are the largest scores, and not those of the true classes": lambda scores, classes: (
            scores.amax(1)
        ),
        "dim 0 goes down the columns: gather along dim 1": lambda scores, classes: scores.gather(
            0, classes.unsqueeze(0)
        ).squeeze(0),
    },
)
