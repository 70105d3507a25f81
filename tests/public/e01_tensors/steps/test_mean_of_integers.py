"""The suite of mean_of_integers."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "mean_of_integers(scores)",
    reference=lambda scores: torch.tensor(sum(scores.flatten().tolist()) / scores.numel()),
    example=([3, 4, 4], torch.tensor(11 / 3)),
    inputs=lambda gen: [torch.randint(100, size, generator=gen) for size in [(7,), (3, 5), (4, 2)]],
    suspects={
        "`.mean()` still gets whole numbers: convert them before it": (lambda scores: scores.mean()),
        "the mean lost what stands behind its point: it was made whole again": lambda scores: (
            scores.float().mean().long()
        ),
        "this is a mean of each column: all scores together have one": lambda scores: scores.float().mean(0),
        "the sum is divided by the number of rows, and not of all scores": lambda scores: (
            scores.sum() / len(scores)
        ),
    },
)
