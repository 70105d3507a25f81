"""The contract of ddp_step."""

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal
from grader.checks.distributed import run_ranks

SHARDS = [([[1.0]], [[1.0]]), ([[2.0], [3.0]], [[3.0], [2.0]])]


def squared_error(predictions, targets):
    return (predictions - targets).square().sum(1)


def worked_example(rank, world_size, answer):
    return [step(rank, answer, *more) for more in ((), (5.0,))]


def step(rank, answer, *more):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    inputs, targets = map(torch.tensor, SHARDS[rank])
    loss = answer.ddp_step(wrapped, squared_error, optimizer, inputs, targets, *more)
    return loss, model.weight.detach()


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks, clipped or not: loss and weight."""
    for rank, results in enumerate(run_ranks(2, worked_example, answer=answer)):
        for (loss, weight), wanted, clipped in zip(
            results, (1.0, 1.5), ("", ", with max_norm=5.0"), strict=True
        ):
            where = f"on rank {rank}{clipped}"
            expect_equal(type(loss).__name__, "float", f"the type of ddp_step(…) {where}")
            expect_close(torch.tensor(loss), torch.tensor(6.0), f"ddp_step(…) {where}")
            expect_close(weight, torch.tensor([[wanted]]), f"the weight after ddp_step(…) {where}")
