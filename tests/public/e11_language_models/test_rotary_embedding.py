"""The worked example of rotary_embedding, in both conventions."""

import torch

from grader.checks.contract import Contract, given

X = torch.tensor([[1.0, 2.0, 3.0, 4.0]])

contract = Contract(
    "rotary(x, offset)",
    example=[
        (given(X, offset=1), [[-1.9841106, 1.9599007, 2.4623779, 4.0197997]]),
        (given(X, offset=1, interleaved=True), [[-1.1426396, 1.9220756, 2.9598507, 4.0297995]]),
    ],
    dims="time feature",
)
