"""The worked example of accumulated_step: the loss and the weight on two ranks."""

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_number
from grader.checks.distributed import run_ranks

PIECES = [[(1.0, 1.0), (1.0, 2.0)], [(2.0, 3.0), (3.0, 2.0)]]


def squared_error(predictions, targets):
    return (predictions - targets).square().sum(1)


def worked_example(rank, world_size, answer):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    pieces = [(torch.tensor([[x]]), torch.tensor([[y]])) for x, y in PIECES[rank]]
    return answer.accumulated_step(wrapped, squared_error, optimizer, pieces), model.weight.detach()


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks: loss and weight."""
    losses = {
        "the mean loss of rank 0 alone": lambda: 0.5,
        "the mean loss of rank 1 alone": lambda: 8.5,
        "the sum of all losses": lambda: 18.0,
        "the sum of the ranks' means": lambda: 9.0,
        "the loss is not divided by the number of pieces": lambda: 9.0,
    }
    weights = {
        "the gradients are not synchronised: these are the ones of rank 0": lambda: torch.tensor([[1.9]]),
        "the gradients are not synchronised: these are the ones of rank 1": lambda: torch.tensor([[0.6]]),
        "the gradients of the pieces are added: divide by the number of rows": lambda: torch.tensor([[0.5]]),
    }
    for rank, (loss, weight) in enumerate(run_ranks(2, worked_example, answer=answer)):
        last = {f"the loss of the last piece of rank {rank} alone": lambda rank=rank: [0.0, 16.0][rank]}
        expect_number(loss, 4.5, f"accumulated_step(…) on rank {rank}", suspects=losses | last)
        where = f"the weight after accumulated_step(…) on rank {rank}"
        expect_close(weight, torch.tensor([[1.25]]), where, suspects=weights)
