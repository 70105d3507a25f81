"""The two lines of the statement that went wrong."""

import torch

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """Backward of reversed_linear runs after its region, and 300 and 400 have an energy of 250000."""
    x, weight = torch.ones(2, 3, requires_grad=True), torch.full((4, 3), 0.5, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = answer.reversed_linear(x, weight, 0.5)
    y.sum().backward()
    expect_equal(x.grad, torch.full((2, 3), -1.0), "x.grad through reversed_linear(x, weight, 0.5)")
    with torch.autocast("cpu", dtype=torch.float16):
        yours = answer.energy(torch.tensor([300.0, 400.0]).half())
    expect_close(yours, torch.tensor(250000.0), "energy(x) in a region of float16")
