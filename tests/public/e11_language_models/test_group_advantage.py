"""The worked examples of group_advantage."""

import torch

from grader.checks.contract import Contract, given

LOGPROBS, OLD, REF = torch.tensor([[[0.6, 0.1, 0.9]], [[0.4, 0.4, 0.3]], [[0.3, 0.1, 0.9]]]).log()
MASK = torch.tensor([[True, True, False]])

group_advantages = Contract(
    "group_advantages(rewards)",
    example=(torch.tensor([[1.0, 2.0, 6.0]]), torch.tensor([[-0.7559003, -0.3779501, 1.1338504]])),
    dims="prompt sample",
)
grpo_loss = Contract(
    "grpo_loss(logprobs, old, ref, advantages, mask, clip, beta)",
    example=(
        given(LOGPROBS, OLD, REF, torch.tensor([1.0]), MASK, beta=0.5),
        torch.tensor(-0.6767132),
    ),
)
