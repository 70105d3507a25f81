"""The worked example of fx_rewrite: one of two gates is fused."""

import torch
import torch.nn.functional as F
from torch import nn

from grader.checks import count_operations, expect_close, expect_equal


class Gated(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x) + torch.sigmoid(x.exp()) * x


def test_worked_example(answer):
    """One silu, and one sigmoid that is left, with the same result."""
    x = torch.tensor([-1.0, 0.5, 2.0])
    wanted = Gated()(x)
    fused = answer.fuse_silu(Gated())
    other = torch.sigmoid(x.exp()) * x
    mistakes = {
        "the sigmoid of another tensor is taken for that of x": lambda: F.silu(x) + F.silu(x),
        "silu is given the sigmoid, and not x": lambda: F.silu(torch.sigmoid(x)) + other,
    }
    expect_close(fused(x), wanted, "fuse_silu(Gated())(x)", suspects=mistakes)
    ran = count_operations(lambda: fused(x))
    counts = {
        "what runs is as it was: is the graph changed, and the code made anew?": lambda: [0, 2],
        "silu runs beside the product, and not in its place": lambda: [1, 2],
    }
    expect_equal([ran["silu"], ran["sigmoid"]], [1, 1], "the numbers of silu and sigmoid", suspects=counts)
