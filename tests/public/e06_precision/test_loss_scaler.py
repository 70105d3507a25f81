"""The worked example of LossScaler."""

import math

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_number


def test_worked_example(answer):
    """The worked example of the statement comes out: a step, then one that is left out, and a scale of 4."""
    scaler = answer.LossScaler(init_scale=8.0)
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = torch.optim.SGD([p], lr=0.5)
    scaler.scale((3 * p).sum()).backward()
    expect_close(p.grad, torch.tensor([24.0, 24.0]), "p.grad after scaler.scale(loss).backward()")
    start, scaled = p.detach().clone(), p.grad.clone()
    scaler.step(optimizer)
    still = {"the gradient is still scaled: divide it by the scale": lambda: scaled}
    expect_close(p.grad, torch.tensor([3.0, 3.0]), "p.grad after scaler.step(optimizer)", suspects=still)
    expect_close(p.detach(), torch.tensor([-0.5, -3.5]), "p after scaler.step(optimizer)", before=start)
    scaler.update()
    expect_number(scaler.get_scale(), 8.0, "scaler.get_scale() after a good iteration")
    p.grad = torch.tensor([math.inf, 8.0])
    scaler.step(optimizer)
    suspects = {
        "the step is made with inf in the gradient: leave it out": lambda: torch.tensor([-math.inf, -7.5]),
        "the step is made, without the number that is inf: leave it out": lambda: torch.tensor([-0.5, -4.0]),
    }
    call = "p after scaler.step(optimizer) with inf"
    expect_equal(p.detach(), torch.tensor([-0.5, -3.5]), call, suspects=suspects)
    scaler.update()
    suspects = {"the scale does not shrink": lambda: 8.0, "it grows": lambda: 16.0}
    expect_number(scaler.get_scale(), 4.0, "scaler.get_scale() after inf", suspects=suspects)
