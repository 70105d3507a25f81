"""The worked examples of straight_through."""

import torch

from grader.checks import expect_close, expect_gradient

X = (0.7, -0.3, 1.6)


def check(function, call, value, slope, weights=(1.0, 1.0, 1.0)):
    """The values, and the derivatives of a weighted sum of them."""
    x = torch.tensor(X, requires_grad=True)
    y = function(x)
    expect_close(y.detach(), torch.tensor(value), call)
    (y * torch.tensor(weights)).sum().backward()
    expect_gradient(x.grad, torch.tensor(slope), f"x through {call}")


def test_round_to_example(answer):
    """The worked example of round_to."""
    check(lambda x: answer.round_to(x, 0.3), "round_to(x, 0.3)", [0.6, -0.3, 1.5], [1.0, 1.0, 1.0])


def test_binarize_example(answer):
    """The worked example of binarize."""
    check(answer.binarize, "binarize(x)", [1.0, -1.0, 1.0], [1.0, 1.0, 0.0])


def test_pick_example(answer):
    """The worked example of pick: the gradient is that of softmax."""
    first, second, third = torch.tensor(X).softmax(0).tolist()
    slope = [first * (1 - first), -first * second, -first * third]
    check(answer.pick, "pick(x)", [0.0, 0.0, 1.0], slope, (1.0, 0.0, 0.0))
