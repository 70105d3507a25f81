"""The suite of top_three."""

import torch

from grader.checks.contract import Contract

SIZES = [(2, 5), (4, 4), (3, 3)]
SCORES = [[0.1, 0.9, 0.3, 0.7], [8.0, 5.0, 6.0, 7.0]]
VALUES = torch.tensor([[0.9, 0.7, 0.3], [8.0, 7.0, 6.0]])


def by_sorting(scores):
    found = scores.sort(dim=1, descending=True)
    return found.values[:, :3], found.indices[:, :3]


contract = Contract(
    "top_three(scores)",
    reference=by_sorting,
    example=(SCORES, (VALUES, torch.tensor([[1, 3, 2], [0, 3, 2]]))),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in SIZES],
    dims=("rows places", "rows places"),
    suspects={
        "the three largest of each column: dim=0 goes down the rows": lambda scores: tuple(
            scores.topk(3, dim=0)
        ),
        "the largest comes last": lambda scores: tuple(part.flip(1) for part in by_sorting(scores)),
        "the three smallest": lambda scores: tuple(part[:, :3] for part in scores.sort(dim=1)),
        "the places come first": lambda scores: by_sorting(scores)[::-1],
    },
)
