"""The worked examples of pooling_by_hand."""

import torch

from grader.checks.contract import Contract, given

PICTURE = -torch.arange(1.0, 10.0).view(1, 1, 3, 3)

max_pool2d = Contract(
    "max_pool2d(x, kernel, stride, padding)",
    example=[
        (given(PICTURE, 2), [[[[-1.0]]]]),
        (given(PICTURE, 2, padding=1), [[[[-1.0, -2.0], [-4.0, -5.0]]]]),
    ],
    dims="batch channels height width",
)
avg_pool2d = Contract(
    "avg_pool2d(x, kernel, stride, padding, count_include_pad)",
    example=[
        (given(PICTURE, 2, padding=1), [[[[-0.25, -1.25], [-2.75, -7.0]]]]),
        (given(PICTURE, 2, padding=1, count_include_pad=False), [[[[-1.0, -2.5], [-5.5, -7.0]]]]),
    ],
    dims="batch channels height width",
)
