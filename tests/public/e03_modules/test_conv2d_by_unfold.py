"""The worked example of conv2d_by_unfold."""

import torch

from grader.checks.contract import Contract, given

PICTURE = torch.arange(1.0, 10.0).view(1, 1, 3, 3)
WEIGHT = torch.tensor([[[[1.0, 2.0], [0.0, 0.0]]]])

contract = Contract(
    "conv2d(x, weight, bias, stride, padding, groups)",
    example=[
        (given(PICTURE, WEIGHT), [[[[5.0, 8.0], [14.0, 17.0]]]]),
        (
            given(PICTURE, WEIGHT, padding=1),
            [[[[0.0, 0.0, 0.0, 0.0], [2.0, 5.0, 8.0, 3.0], [8.0, 14.0, 17.0, 6.0], [14.0, 23.0, 26.0, 9.0]]]],
        ),
    ],
    dims="batch filters height width",
)
