"""The contract of best_and_confidence."""

import math

import torch

from grader.checks.contract import Contract

contract = Contract(
    "best_and_confidence(logits)",
    example=(
        [[0.0, math.log(3.0)], [math.log(4.0), 0.0]],
        (torch.tensor([1, 0]), torch.tensor([0.75, 0.8])),
    ),
    dims=("batch", "batch"),
)
