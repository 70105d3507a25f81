"""The worked examples of top_k_routing."""

import math

import torch

from grader.checks.contract import Contract, given

LOGITS = torch.tensor([[0.0, math.log(3.0), -1.0], [-2.0, 0.0, math.log(4.0)]])


def scale(factor):
    return lambda rows: factor * rows


mixture = Contract(
    "mixture_of_experts(x, logits, experts, k)",
    example=(
        given(torch.tensor([[1.0], [2.0]]), LOGITS, [scale(1), scale(10), scale(100)], k=2),
        [[7.75], [164.0]],
    ),
    dims="token feature",
)
balance = Contract("balance_loss(logits)", example=(LOGITS, torch.tensor(1.3085439)))
