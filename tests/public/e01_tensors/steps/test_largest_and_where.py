"""The suite of largest_and_where."""

import torch

from grader.checks.contract import Contract

SIZES = [(2, 4), (3, 3), (5, 2)]


def by_hand(scores):
    rows = scores.tolist()
    return scores.new_tensor([max(row) for row in rows]), torch.tensor([row.index(max(row)) for row in rows])


contract = Contract(
    "largest_and_where(scores)",
    reference=by_hand,
    example=([[0.1, 0.7, 0.2], [0.9, 0.0, 0.1]], (torch.tensor([0.7, 0.9]), torch.tensor([1, 0]))),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in SIZES],
    dims=("rows", "rows"),
    suspects={
        "that is the smallest of each row": lambda scores: tuple(scores.min(dim=1)),
        "the largest of each column: dim=0 goes down the rows": lambda scores: tuple(scores.max(dim=0)),
        "one number for the whole table: `dim=1` is missing": lambda scores: (scores.max(), scores.argmax()),
        "the places come first": lambda scores: tuple(scores.max(dim=1))[::-1],
    },
)
