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
        "the block runs in bfloat16, and its result is turned into float32": lambda: torch.tensor(
            [[256.0, 1.0]]
        ),
    }
    call = f"Float32Island(router)(x) with x in {dtype}"
    expect_close(yours.detach(), torch.tensor([[257.0, 1.0]]), call, suspects=suspects)


def test_registered(answer):
    """The block is a part of the island, under the name of block."""
    island = answer.Float32Island(router())
    expect_equal([*island.state_dict()], ["block.weight"], "the names in the state dict of an island")
