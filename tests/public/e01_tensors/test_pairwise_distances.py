"""The worked example of pairwise_distances."""

import torch

from grader.checks.contract import Contract, given

A = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
B = torch.tensor([[3.0, 4.0], [0.0, 4.0], [6.0, 8.0]])

contract = Contract(
    "pairwise_distances(a, b)",
    example=(given(A, B), [[5.0, 4.0, 10.0], [0.0, 3.0, 5.0]]),
    dims="rows_of_a rows_of_b",
)
