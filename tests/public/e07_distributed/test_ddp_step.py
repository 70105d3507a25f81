"""The worked example of ddp_step: the loss and the weight on two ranks."""

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_number
from grader.checks.distributed import run_ranks

SHARES = [([[1.0]], [[1.0]]), ([[3.0]], [[2.0]])]


def squared_error(predictions, targets):
    return (predictions - targets).square().sum(1)


def worked_example(rank, world_size, answer):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    inputs, targets = map(torch.tensor, SHARES[rank])
    return answer.ddp_step(wrapped, squared_error, optimizer, inputs, targets), model.weight.detach()


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks: loss and weight."""
    suspects = {
        "the sum of the ranks' losses": lambda: 17.0,
        "the loss of rank 0 alone": lambda: 1.0,
        "the loss of rank 1 alone": lambda: 16.0,
    }
    for rank, (loss, weight) in enumerate(run_ranks(2, worked_example, answer=answer)):
        expect_number(loss, 8.5, f"ddp_step(…) on rank {rank}", suspects=suspects)
        expect_close(weight, torch.tensor([[0.7]]), f"the weight after ddp_step(…) on rank {rank}")
