"""The worked example of hvp and sharpness."""

import torch

from grader.checks import expect_close


def loss(a, b):
    return a * a * b + b**3


def test_hvp_example(answer):
    """The worked example of hvp."""
    params = [torch.tensor(t, requires_grad=True) for t in (2.0, 3.0)]
    found = answer.hvp(loss, params, [torch.tensor(1.0), torch.tensor(10.0)])
    yours = torch.stack([t.detach() for t in found])
    suspects = {
        "the products of a with b are left out": lambda: torch.tensor([6.0, 180.0]),
        "it is the gradient, times the vector": lambda: torch.tensor([12.0, 310.0]),
    }
    expect_close(yours, torch.tensor([46.0, 184.0]), "hvp(loss, [a, b], [1, 10])", suspects=suspects)


def test_sharpness_example(answer):
    """The worked example of sharpness."""
    params = [torch.tensor(t, requires_grad=True) for t in (2.0, 3.0)]
    yours = answer.sharpness(loss, params, [torch.tensor(1.0), torch.tensor(1.0)])
    wanted = torch.tensor(19.2111026)
    expect_close(yours.detach(), wanted, "sharpness(loss, [a, b], [1, 1])", ulps=50)
