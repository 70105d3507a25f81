"""The contract of checkpoint_activations."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_gradient, expect_that, saved_bytes


def test_value_and_gradients(answer):
    """Value and gradients are those of the plain function."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = answer.checkpoint(lambda x: (x**2).sum() / 2, x)
    expect_close(y.detach(), torch.tensor(7.0), "checkpoint(fn, x)")
    (3 * y).backward()
    suspects = {
        "the gradient that arrives from above is ignored": lambda: torch.tensor([1.0, 2.0, 3.0]),
        "it is counted twice: returned, and added to `.grad` as well": lambda: torch.tensor(
            [6.0, 12.0, 18.0]
        ),
    }
    of = "x through 3 * checkpoint(fn, x)"
    expect_gradient(x.grad, torch.tensor([3.0, 6.0, 9.0]), of, suspects=suspects)


def test_runs_again_in_backward(answer):
    """The function runs once in forward, and once more in backward."""
    layer, runs = nn.Linear(3, 2), []
    layer.register_forward_pre_hook(lambda *_: runs.append(1))
    y = answer.checkpoint(layer, torch.ones(4, 3, requires_grad=True))
    expect_equal(len(runs), 1, "the number of runs after forward")
    y.sum().backward()
    suspects = {
        "it runs again for each gradient: one run gives all of them": lambda: 3,
        "it does not run again: its activations are kept": lambda: 1,
    }
    expect_equal(len(runs), 2, "the number of runs after backward", suspects=suspects)
    expect_gradient(layer.bias.grad, torch.tensor([4.0, 4.0]), "the bias of a checkpointed layer")


def test_saves_less(answer):
    """Autograd keeps less for backward than without checkpoint."""
    x = torch.ones(32, 8, requires_grad=True)
    saved = saved_bytes(lambda: answer.checkpoint(lambda x: x.exp().sin().tanh().exp(), x))
    told = "checkpoint(fn, x) lets autograd keep what fn computed on the way"
    expect_that(saved <= x.nbytes, told, yours=f"{saved:,} bytes", wanted=f"x at most, {x.nbytes:,} bytes")
