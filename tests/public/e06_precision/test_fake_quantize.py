"""The worked example of fake_quantize."""

import torch

from grader.checks import expect_close, expect_gradient


def test_worked_example(answer):
    """The values of the worked example come out, and its derivatives."""
    x = torch.tensor([0.26, -0.7, 9.0], requires_grad=True)
    call = "fake_quantize(x, 0.1, low=-8, high=7)"
    yours = answer.fake_quantize(x, 0.1, low=-8, high=7)
    expect_close(yours.detach(), torch.tensor([0.3, -0.7, 0.7]), call)
    yours.sum().backward()
    expect_gradient(x.grad, torch.tensor([1.0, 1.0, 0.0]), f"x through {call}")
