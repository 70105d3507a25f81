"""The contract of accumulated_step."""

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal
from grader.checks.distributed import run_ranks

PIECES = [
    [([[1.0]], [[1.0]]), ([[1.0]], [[2.0]])],
    [([[2.0], [3.0]], [[3.0], [2.0]])],
]


def squared_error(predictions, targets):
    return (predictions - targets).square().sum(1)


def worked_example(rank, world_size, answer):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    pieces = [(torch.tensor(inputs), torch.tensor(targets)) for inputs, targets in PIECES[rank]]
    loss = answer.accumulated_step(wrapped, squared_error, optimizer, pieces)
    return loss, model.weight.detach()


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks: the loss, and the weight."""
    for rank, (loss, weight) in enumerate(run_ranks(2, worked_example, answer=answer)):
        expect_equal(type(loss).__name__, "float", f"the type of accumulated_step(…) on rank {rank}")
        expect_close(torch.tensor(loss), torch.tensor(4.5), f"accumulated_step(…) on rank {rank}")
        expect_close(weight, torch.tensor([[1.25]]), f"the weight after accumulated_step(…) on rank {rank}")
