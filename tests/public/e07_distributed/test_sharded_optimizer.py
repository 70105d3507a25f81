"""The worked example of sharded_optimizer."""

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_that
from grader.checks.distributed import run_ranks

GRADIENTS = [([[1.0, 1.0]], [1.0]), ([[3.0, 1.0]], [5.0])]


def worked_example(rank, world_size, answer):
    model = nn.Linear(2, 1)
    nn.init.constant_(model.bias, 3.0)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 2.0]]))
    sharded = answer.ShardedOptimizer(model.parameters(), lambda part: torch.optim.SGD(part, lr=0.1))
    model.weight.grad, model.bias.grad = map(torch.tensor, GRADIENTS[rank])
    sharded.step()
    stepped = model.weight.detach().clone(), model.bias.detach().clone()
    sharded.zero_grad()
    return stepped, [name for name, p in model.named_parameters() if p.grad is not None and p.grad.any()]


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks, and zero_grad clears the gradients."""
    for rank, ((weight, bias), left) in enumerate(run_ranks(2, worked_example, answer=answer)):
        told = "it is as before: each rank is to get what the others have stepped"
        still = {told: lambda: torch.tensor([[1.0, 2.0]])}
        wanted = torch.tensor([[0.8, 1.9]])
        expect_close(weight, wanted, f"the weight after step() on rank {rank}", suspects=still)
        still = {told: lambda: torch.tensor([3.0])}
        expect_close(bias, torch.tensor([2.7]), f"the bias after step() on rank {rank}", suspects=still)
        told = f"parameters have gradients after zero_grad() on rank {rank}"
        expect_that(not left, told, yours=" and ".join(left), wanted="none, on every rank")
