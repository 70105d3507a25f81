"""The contract of gather_token_logprobs."""

import math

import torch

from grader.checks.contract import Contract

contract = Contract(
    "token_logprobs(logits, targets)",
    example=(
        (torch.tensor([[[1.0, 1.0, 2.0], [5.0, 3.0, 1.0]]]).log(), [[0, 1]]),
        [[math.log(1 / 4), math.log(1 / 3)]],
    ),
    dims="batch time",
)
