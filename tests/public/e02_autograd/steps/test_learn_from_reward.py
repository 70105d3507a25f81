"""The suite of learn_from_reward."""

import torch

from grader.checks import expect_close, expect_gradient, expect_that

CALL = "learn_from_reward(scores, rewards)"


def draw(gen, machines):
    return torch.randn(machines, generator=gen, requires_grad=True), torch.rand(machines, generator=gen) + 1


def test_loss(answer, gen):
    """The loss is -log(p) * reward, for the machine that was drawn."""
    for machines in (2, 3, 6):
        scores, rewards = draw(gen, machines)
        machine, loss = answer.learn_from_reward(scores, rewards)
        expect_that(
            type(machine) is int,
            f"the first result of {CALL} is no Python int",
            yours=machine,
            wanted="a Python int",
            likely="`int(…)` or `.item()` makes one of a tensor",
        )
        p, reward = scores.detach().softmax(0)[machine], rewards[machine]
        suspects = {
            "the minus is missing": lambda p=p, reward=reward: p.log() * reward,
            "this is p, and not its logarithm": lambda p=p, reward=reward: -p * reward,
            "the reward is left out": lambda p=p: -p.log(),
        }
        expect_close(loss, -p.log() * reward, f"the loss of {CALL}", suspects=suspects, ulps=64)


def test_gradient(answer, gen):
    """A gradient of the loss comes back to the scores."""
    scores, rewards = draw(gen, 4)
    machine, loss = answer.learn_from_reward(scores, rewards)
    expect_that(loss.requires_grad, f"the loss of {CALL} has no gradient: log p must come from scores")
    loss.backward()
    chosen = torch.zeros(4)
    chosen[int(machine)] = 1
    wanted = rewards[int(machine)] * (scores.detach().softmax(0) - chosen)
    expect_gradient(scores.grad, wanted, f"the loss of {CALL} for scores", scale=10.0)


def test_draws(answer):
    """A machine is drawn as often as its probability says."""
    scores, rewards = torch.tensor([3.0, 1.0]).log(), torch.ones(2)
    often = sum(int(answer.learn_from_reward(scores, rewards)[0]) == 0 for _ in range(200))
    told = "machine 0 has the probability 0.75: it should be drawn some 150 times of 200"
    likely = (
        "argmax takes the likeliest every time: draw"
        if often == 200
        else "are the probabilities softmax(scores)?"
    )
    expect_that(120 <= often <= 180, told, yours=f"{often} times", likely=likely)


def oracle(answer, gen):
    cases = {}
    for machines in (2, 3, 5):  # equal ones, so that the loss does not depend on which is drawn
        scores = torch.randn(1, generator=gen).repeat(machines).requires_grad_()
        loss = answer.learn_from_reward(scores, torch.rand(1, generator=gen).repeat(machines) + 1)[1]
        loss.backward()
        cases[f"{machines} machines"] = [loss.detach(), scores.grad.sort().values]
    return cases
