"""The contract of ddp_step."""

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal
from grader.checks.ranks import run_ranks

SHARDS = [([[1.0]], [[1.0]]), ([[2.0], [3.0]], [[3.0], [2.0]])]


def squared_error(predictions, targets):
    return (predictions - targets).square().sum(1)


def worked_example(rank, world_size, answer, max_norm):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    inputs, targets = map(torch.tensor, SHARDS[rank])
    if max_norm is None:
        loss = answer.ddp_step(wrapped, squared_error, optimizer, inputs, targets)
    else:
        loss = answer.ddp_step(wrapped, squared_error, optimizer, inputs, targets, max_norm)
    return loss, model.weight.detach()


@pytest.mark.multi_process
@pytest.mark.parametrize(("max_norm", "wanted"), [(None, 1.0), (5.0, 1.5)], ids=["plain", "clipped"])
def test_worked_example(answer, max_norm, wanted):
    """The worked example of the statement comes out on both ranks: the loss, and the weight."""
    for rank, (loss, weight) in enumerate(run_ranks(2, worked_example, max_norm, answer=answer)):
        where = f"on rank {rank}" if max_norm is None else f"on rank {rank}, with max_norm={max_norm}"
        expect_equal(type(loss).__name__, "float", f"the type of ddp_step(…) {where}")
        expect_close(torch.tensor(loss), torch.tensor(6.0), f"ddp_step(…) {where}")
        expect_close(weight, torch.tensor([[wanted]]), f"the weight after ddp_step(…) {where}")
