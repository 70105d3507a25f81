"""The contract of sharded_optimizer."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

GRADIENTS = [([[1.0, 1.0]], [1.0]), ([[3.0, 1.0]], [5.0])]


def worked_example(rank, world_size, answer):
    model = nn.Linear(2, 1)
    nn.init.constant_(model.bias, 3.0)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 2.0]]))
    parts = []

    def make_optimizer(part):
        parts.extend(part)
        return torch.optim.SGD(part, lr=0.1)

    sharded = answer.ShardedOptimizer(model.parameters(), make_optimizer)
    owned = torch.cat([t.detach().flatten() for t in parts])
    model.weight.grad, model.bias.grad = map(torch.tensor, GRADIENTS[rank])
    sharded.step()
    stepped = model.weight.detach().clone(), model.bias.detach().clone()
    sharded.zero_grad()
    return owned, stepped, [p.grad for p in model.parameters()]


def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks, and zero_grad lets go of the gradients."""
    for rank, (owned, (weight, bias), gradients) in enumerate(run_ranks(2, worked_example, answer=answer)):
        mine = torch.tensor([1.0, 2.0] if rank == 0 else [3.0])
        # the zero that fills up the last part may be there or not
        expect_close(owned[: len(mine)], mine, f"what make_optimizer gets on rank {rank}")
        expect_close(weight, torch.tensor([[0.8, 1.9]]), f"the weight after step() on rank {rank}")
        expect_close(bias, torch.tensor([2.7]), f"the bias after step() on rank {rank}")
        expect_equal(gradients, [None, None], f"the gradients after zero_grad() on rank {rank}")
