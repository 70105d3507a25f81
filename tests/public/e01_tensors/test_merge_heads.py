"""The worked example of merge_heads."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "merge_heads(x)",
    example=(torch.arange(8).view(1, 2, 2, 2), [[[0, 1, 4, 5], [2, 3, 6, 7]]]),
    dims="batch time width",
)
