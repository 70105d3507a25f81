"""The worked examples of cross_entropy."""

import math

import torch

from grader.checks.contract import Contract, given

LOGITS = torch.tensor([[math.log(2), 0.0, 0.0], [0.0, math.log(6), 0.0]])

contract = Contract(
    "cross_entropy(logits, targets, ignore_index, label_smoothing)",
    example=[
        (given(LOGITS, torch.tensor([0, 2])), torch.tensor(1.3862944)),
        (given(LOGITS, torch.tensor([0, 2]), label_smoothing=0.3), torch.tensor(1.3660211)),
        (given(LOGITS, torch.tensor([0, -100])), torch.tensor(0.6931472)),
    ],
)
