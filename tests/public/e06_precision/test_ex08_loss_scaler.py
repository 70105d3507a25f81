"""The contract of LossScaler."""

import math

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises


def test_worked_example(answer):
    """The worked example of the statement comes out: a step, then one that is skipped, and a scale of 4."""
    scaler = answer.LossScaler(init_scale=8.0)
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = torch.optim.SGD([p], lr=0.5)
    scaler.scale((3 * p).sum()).backward()
    expect_close(p.grad, torch.tensor([24.0, 24.0]), "p.grad after scaler.scale(loss).backward()")
    expect_equal(scaler.step(optimizer), True, "scaler.step(optimizer)")
    scaled, start = torch.tensor([24.0, 24.0]), torch.tensor([1.0, -2.0])
    still = {"the gradient is still scaled: divide it by the scale": lambda: scaled}
    grad = p.grad
    expect_close(grad, torch.tensor([3.0, 3.0]), "p.grad after scaler.step(optimizer)", suspects=still)
    expect_close(p.detach(), torch.tensor([-0.5, -3.5]), "p after scaler.step(optimizer)", before=start)
    scaler.update()
    expect_equal(scaler.get_scale(), 8.0, "scaler.get_scale() after a good iteration")
    p.grad = torch.tensor([math.inf, 8.0])
    expect_equal(scaler.step(optimizer), False, "scaler.step(optimizer) where a gradient is inf")
    expect_close(p.detach(), torch.tensor([-0.5, -3.5]), "p after a step that is skipped")
    scaler.update()
    expect_equal(scaler.get_scale(), 4.0, "scaler.get_scale() after a step that was skipped")


def test_keys(answer):
    """A state dict has five plain numbers in it."""
    wanted = {
        "scale": 65536.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 2000,
        "_growth_tracker": 0,
    }
    expect_equal(answer.LossScaler().state_dict(), wanted, "LossScaler().state_dict()")


def test_errors(answer):
    """A growth factor of 1, and a second step in one iteration, raise the named errors."""
    expect_raises(ValueError, lambda: answer.LossScaler(growth_factor=1.0), "LossScaler(growth_factor=1.0)")
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    optimizer, scaler = torch.optim.SGD([p], lr=0.5), answer.LossScaler()
    scaler.step(optimizer)
    expect_raises(RuntimeError, lambda: scaler.step(optimizer), "a second scaler.step(optimizer)")
