"""The contract of missing_unsqueeze."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "weighted_mse(predictions, targets, weights)",
    example=(([[1.0], [2.0], [3.0]], [1.0, 2.0, 5.0], [1.0, 1.0, 2.0]), torch.tensor(2.0)),
)
