"""The contract of tensor_constructor."""

import torch

from grader.checks.contract import Contract, given

contract = Contract(
    "as_vector(values)",
    example=[
        (3, torch.tensor([3])),
        (given([16_777_217, 5]), torch.tensor([16_777_217, 5])),
        (given((0.5, 2)), torch.tensor([0.5, 2.0])),
        (given([1, 0], dtype=torch.bool), torch.tensor([True, False])),
    ],
    dims="i",
)
