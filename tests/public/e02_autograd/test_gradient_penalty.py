"""The worked example of gradient_penalty, and a backward through it."""

import torch

from grader.checks import expect_close, expect_gradient, expect_that


def test_worked_example(answer):
    """The worked example comes out, with the default target and with another."""
    critic = lambda x: x.square().sum(1) / 2  # noqa: E731
    data = torch.tensor([[3.0, 4.0]] * 2), torch.zeros(2, 2), torch.tensor([0.2, 0.6])
    suspects = {
        "one norm is taken of the whole batch: each sample has its own": lambda: torch.tensor(
            (10**0.5 - 1) ** 2
        ),
        "mix is the share of fake: it is that of real": lambda: torch.tensor(5.0),
        "the mean is squared: each sample's distance is, and then the mean taken": lambda: torch.tensor(1.0),
        "the gradient is that of the mean score: each sample's own is asked for": lambda: torch.tensor(0.25),
        "the penalties are added up: their mean is asked for": lambda: torch.tensor(4.0),
    }
    call = "gradient_penalty(critic, real, fake, mix)"
    expect_close(answer.gradient_penalty(critic, *data).detach(), torch.tensor(2.0), call, suspects=suspects)
    call = "gradient_penalty(critic, real, fake, mix, target=0.0)"
    suspects = {"target is ignored": lambda: torch.tensor(2.0)}
    penalty = answer.gradient_penalty(critic, *data, target=0.0)
    expect_close(penalty.detach(), torch.tensor(5.0), call, suspects=suspects)


def test_trains_the_critic(answer):
    """Backward through the penalty reaches the parameters of the critic."""
    weight = torch.tensor([3.0, 4.0], requires_grad=True)
    data = torch.ones(2, 2), torch.zeros(2, 2), torch.tensor([0.25, 0.75])
    penalty = answer.gradient_penalty(lambda x: x @ weight, *data)
    likely = "the gradient in it is a constant: torch.autograd.grad(…, create_graph=True) keeps its graph"
    expect_that(penalty.requires_grad, "the penalty has no graph: no critic learns from it", likely=likely)
    penalty.backward()
    wanted = torch.tensor([4.8, 6.4])  # 2 (‖w‖ - 1) w / ‖w‖
    call = "the critic's weight through gradient_penalty(critic, real, fake, mix)"
    expect_gradient(weight.grad, wanted, call)
