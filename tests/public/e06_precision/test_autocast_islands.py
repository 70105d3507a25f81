"""The worked example of Float32Island."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal


def router():
    linear = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[257.0, 0.0], [0.0, 1.0]]))
    return linear


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_worked_example(answer, dtype):
    """The worked example of the statement comes out, for x in bfloat16 and in float32."""
    island, x = answer.Float32Island(router()), torch.ones(1, 2, dtype=dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yours = island(x)
    suspects = {
        told: lambda kind=kind: torch.tensor([[256.0, 1.0]], dtype=kind)
        for told, kind in {
            "the block runs in bfloat16, and its result is turned into float32": torch.float32,
            "autocast still holds for the block, or its result is cast to bfloat16": torch.bfloat16,
        }.items()
    }
    call = f"Float32Island(router)(x) with x in {dtype}"
    expect_close(yours.detach(), torch.tensor([[257.0, 1.0]]), call, suspects=suspects)


def test_registered(answer):
    """The block is a part of the island, under the name of block."""
    island = answer.Float32Island(router())
    suspects = {"the block is no attribute of the island, or is in a plain list: self.block = block": list}
    call = "the names in the state dict of an island"
    expect_equal([*island.state_dict()], ["block.weight"], call, suspects=suspects)
