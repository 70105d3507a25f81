"""The worked example of fully_shard_model."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.arange(4.0))
        self.blocks = nn.ModuleList([nn.Linear(4, 6), nn.Linear(6, 6), nn.Linear(6, 6)])
        with torch.no_grad():
            self.blocks[0].weight.copy_(torch.arange(24.0).view(6, 4))

    def forward(self, x):
        x = x * self.scale
        for block in self.blocks:
            x = block(x)
        return x


def worked_example(rank, world_size, answer):
    model = Model()
    returned = answer.fully_shard_model(model)
    local = model.blocks[0].weight.to_local().detach().clone()
    return returned is model, local, answer.full_state_dict(model)


def test_worked_example(answer):
    """The worked example of the statement comes out: rows on each rank, and the whole on rank 0."""
    whole = torch.arange(24.0).view(6, 4)
    for rank, (is_same, local, state) in enumerate(run_ranks(2, worked_example, answer=answer)):
        expect_that(is_same, f"fully_shard_model does not return the model itself on rank {rank}")
        expect_close(local, whole[3 * rank : 3 * rank + 3], f"blocks[0].weight.to_local() on rank {rank}")
        if rank == 0:
            expect_equal(
                list(state), list(Model().state_dict()), "the keys of full_state_dict(model) on rank 0"
            )
            expect_close(state["blocks.0.weight"], whole, 'full_state_dict(model)["blocks.0.weight"]')
        else:
            expect_equal(state, {}, f"full_state_dict(model) on rank {rank}")
