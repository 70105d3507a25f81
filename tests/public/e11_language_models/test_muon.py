"""The worked example of muon."""

import torch
from torch import nn

from grader.checks import expect_close

WANTED = torch.tensor([[0.8477684, 0.95], [0.95, 0.7917202], [0.95, 0.95], [0.95, 0.95]])
X = torch.tensor([[0.7229, 0.0], [0.0, 1.1192], [0.0, 0.0], [0.0, 0.0]])


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    p = nn.Parameter(torch.ones(4, 2))
    optimizer = answer.Muon([p], lr=0.1, weight_decay=0.5)
    p.grad = torch.tensor([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0], [0.0, 0.0]])
    optimizer.step()
    signs = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    suspects = {
        "the factor √max(1, rows / columns) is missing": lambda: 0.95 - 0.1 * X,
        "singular values are exactly 1: the five steps bring them near 1": lambda: (
            0.95 - 0.1 * 2**0.5 * signs
        ),
        "there is no decay": lambda: 1.0 - 0.1 * 2**0.5 * X,
    }
    # bfloat16 may be off by 0.03 in X, and so by 0.005 here
    call, off = "p after optimizer.step()", 0.006
    expect_close(p.detach(), WANTED, call, dims="row column", ulps=off / 2**-23, scale=1.0, suspects=suspects)
