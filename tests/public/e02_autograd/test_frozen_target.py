"""The contract of frozen_target."""

import torch

from grader.checks import expect_close, expect_that

CALL = "td_loss(net, target_net, states, actions, rewards, next_states, done, gamma)"


def worked_example():
    w = torch.tensor([[1.0, 3.0]], requires_grad=True)
    net = lambda states: states @ w  # noqa: E731
    states, next_states = torch.tensor([[1.0]]), torch.tensor([[2.0]])
    return w, (
        net,
        net,
        states,
        torch.tensor([0]),
        torch.tensor([1.0]),
        next_states,
        torch.tensor([False]),
        0.5,
    )


def test_worked_example(answer):
    """The worked example of the statement comes out: the loss is 9."""
    _, batch = worked_example()
    loss = answer.td_loss(*batch)
    expect_that(isinstance(loss, torch.Tensor), f"{CALL} does not return a tensor", yours=loss)
    suspects = {
        "the mean over the actions is taken for the best one": lambda: torch.tensor(4.0),
        "gamma is ignored": lambda: torch.tensor(36.0),
        "0.99 is written in, in the place of gamma": lambda: torch.tensor((1 + 0.99 * 6 - 1) ** 2),
        "it is half of the squared error": lambda: torch.tensor(4.5),
        "it is the error itself, not its square": lambda: torch.tensor(3.0),
    }
    expect_close(loss.detach(), torch.tensor(9.0), CALL, suspects=suspects)


def test_gradient(answer):
    """The gradient is (-6, 0): the prediction moves, and the target stands still."""
    w, batch = worked_example()
    loss = answer.td_loss(*batch)
    expect_that(loss.requires_grad, "net gets no gradient: the whole graph is cut, the prediction's too")
    loss.backward()
    expect_that(w.grad is not None, "net gets no gradient: the whole graph is cut")
    suspects = {
        "the target has a gradient, too: it is to be a constant": lambda: torch.tensor([[-6.0, 6.0]]),
        "the prediction is detached, and not the target": lambda: torch.tensor([[0.0, 6.0]]),
    }
    wanted = torch.tensor([[-6.0, 0.0]])
    expect_close(w.grad, wanted, "w.grad after the loss's backward", suspects=suspects)


def test_end_of_an_episode(answer):
    """Where the episode is over, only the reward counts."""
    _, batch = worked_example()
    loss = answer.td_loss(*batch[:6], torch.tensor([True]), 0.5)
    expect_close(loss.detach(), torch.tensor(0.0), f"{CALL} with done, and the right prediction", scale=1.0)
