"""The contract of autocast_islands."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal


def router():
    linear = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[257.0, 0.0], [0.0, 1.0]]))
    return linear


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_worked_example(answer, dtype):
    """The worked example of the statement comes out, for float16 as well."""
    island, x = answer.Float32Island(router()), torch.ones(1, 2, dtype=dtype)
    with torch.autocast("cpu", dtype=dtype):
        yours = island(x)
    expect_equal(yours.detach(), torch.tensor([[257.0, 1.0]]), f"Float32Island(router)(x) in {dtype}")


def test_outside_of_a_region(answer):
    """Without autocast an argument in bfloat16 becomes float32 as well."""
    yours = answer.Float32Island(router())(torch.ones(1, 2, dtype=torch.bfloat16))
    expect_equal(yours.detach(), torch.tensor([[257.0, 1.0]]), "Float32Island(router)(x) without autocast")


def test_registered(answer):
    """The block is a part of the island, under the name of block."""
    island = answer.Float32Island(router())
    expect_equal([*island.state_dict()], ["block.weight"], "the names in the state dict of an island")
