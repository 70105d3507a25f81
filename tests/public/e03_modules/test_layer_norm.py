"""The worked example of layer_norm."""

import torch

from grader.checks.contract import Contract, given

ROWS = torch.tensor([[1.0, 3.0], [5.0, 7.0]])

contract = Contract(
    "layer_norm(x, shape, weight, bias, eps)",
    example=[
        (given(ROWS, (2,)), [[-0.999995, 0.999995], [-0.999995, 0.999995]]),
        (given(ROWS, (2, 2)), [[-1.3416394, -0.4472131], [0.4472131, 1.3416394]]),
    ],
    dims="row feature",
)
