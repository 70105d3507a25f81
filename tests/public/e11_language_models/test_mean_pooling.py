"""The worked example of mean_pooling."""

import torch

from grader.checks.contract import Contract

HIDDEN = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]]])

contract = Contract(
    "mean_pool(hidden, mask)",
    example=((HIDDEN, torch.tensor([[1, 1, 0]])), [[2.0, 4.0]]),
    dims="sentence feature",
)
