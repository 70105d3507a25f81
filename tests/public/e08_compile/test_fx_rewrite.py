"""The worked example of fx_rewrite: one of two gates is fused."""

import torch
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
    ran = count_operations(lambda: fused(x))
    expect_equal([ran["silu"], ran["sigmoid"]], [1, 1], "the numbers of silu and sigmoid in a call")
    expect_close(fused(x), wanted, "fuse_silu(Gated())(x)")
