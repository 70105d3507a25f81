"""The worked example of clipped_policy, and one step whose loss is quickly told."""

import torch

from grader.checks import expect_close
from grader.checks.contract import Contract, given

REWARDS, VALUES = torch.tensor([[1.0, 4.0, 3.0]]), torch.tensor([[1.0, 2.0, 4.0, 8.0]])

gae = Contract(
    "gae(rewards, values, done, gamma, lam)",
    example=(
        given(REWARDS, VALUES, torch.tensor([[False, True, False]]), gamma=0.5, lam=0.8),
        (torch.tensor([[1.8, 2.0, 3.0]]), torch.tensor([[2.8, 4.0, 7.0]])),
    ),
    dims=("batch time", "batch time"),
)


def test_one_step(answer):
    """Of one step: ratio 1.5 is cut to 1.2, and a value that went from 1 to 2 is taken for 1.2."""
    logprobs, old = torch.tensor([[0.6], [0.4]]).log()
    advantages, values, old_values, returns, entropy = torch.tensor([[1.0], [2.0], [1.0], [4.0], [0.5]])
    yours = answer.ppo_loss(logprobs, old, advantages, values, old_values, returns, entropy)
    wanted = -1.2 + 0.5 * (1.2 - 4) ** 2 / 2 - 0.01 * 0.5
    expect_close(yours, torch.tensor(wanted), "ppo_loss(logprobs, …) of one step")
