"""The worked examples of policy_gradient."""

import torch

from grader.checks import expect_close, expect_equal
from grader.checks.contract import Contract, given

LOGPROBS, REWARDS = torch.tensor([-1.0, -2.0, -0.5]), torch.tensor([1.0, 0.0, 4.0])

reinforce_loss = Contract(
    "reinforce_loss(logprobs, rewards, gamma, baseline)",
    example=[
        (given(LOGPROBS, REWARDS, gamma=0.5), torch.tensor(8.0)),
        (given(LOGPROBS, REWARDS, gamma=0.5, baseline=torch.tensor([1.0, 2.0, 3.0])), torch.tensor(1.5)),
    ],
)


def test_choose_example(answer):
    """A draw from two actions comes with its log-probability."""
    found = answer.choose(torch.tensor([[1.0986, 0.0]]))
    expect_equal(len(found), 2, "the number of results of choose(logits)")
    actions, logprobs = found
    expect_equal(tuple(actions.shape), (1,), "the shape of the actions of choose([[1.0986, 0]])")
    wanted = torch.tensor([[-0.2877, -1.3863][int(actions)]])
    call = f"the log-probability that choose([[1.0986, 0]]) gives to action {int(actions)}"
    expect_close(logprobs.detach(), wanted, call, ulps=2000)  # four digits are written
