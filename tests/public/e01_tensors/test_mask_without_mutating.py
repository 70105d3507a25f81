"""The contract of mask_without_mutating."""

import torch

from grader.checks.contract import Contract, given, untouched

READINGS = [0.5, -7.0, 9999.0, 1.0]

contract = Contract(
    "clip_outliers(x, low, high)",
    example=(given(torch.tensor(READINGS), low=-2.0, high=1.5), [0.5, -2.0, 1.5, 1.0]),
    job=[
        untouched(
            inputs=lambda gen: {"raw readings": (torch.tensor(READINGS), -2.0, 1.5)},
            title="The readings that went in are the same afterwards.",
        )
    ],
)
