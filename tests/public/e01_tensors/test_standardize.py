"""The worked example of standardize."""

import torch

from grader.checks.contract import Contract, given

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]])

contract = Contract(
    "standardize(x, dim)",
    example=[
        (given(X, dim=1), [[-1.2247, 0.0, 1.2247], [0.0, 0.0, 0.0]]),
        (given(X, dim=1, correction=1), [[-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        (given(X, dim=(0, 1)), [[-1.7320, -0.8660, 0.0], [0.8660, 0.8660, 0.8660]]),
    ],
    dims="row feature",
)
