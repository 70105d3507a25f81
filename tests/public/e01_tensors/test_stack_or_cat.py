"""The contract of stack_or_cat."""

import torch

from grader.checks.contract import Contract, given

FIRST = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 2.0, 2.0]])
SECOND = torch.tensor([[5.0, 5.0, 3.0, 3.0]])

contract = Contract(
    "collate_detections(samples)",
    example=(
        given([(torch.zeros(3, 8, 8), FIRST), (torch.ones(3, 8, 8), SECOND)]),
        (
            torch.tensor([0.0, 1.0]).view(2, 1, 1, 1).expand(2, 3, 8, 8),
            torch.cat([FIRST, SECOND]),
            torch.tensor([0, 0, 1]),
        ),
    ),
    dims=("image channel row column", "box coordinate", "box"),
)
