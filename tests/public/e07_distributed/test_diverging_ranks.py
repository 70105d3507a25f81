"""The worked example of diverging_ranks."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal
from grader.checks.distributed import run_ranks

BATCHES = [
    [([[1.0]], [[1.0]]), ([[1.0]], [[float("nan")]])],
    [([[2.0]], [[3.0]]), ([[1.0]], [[1.0]])],
]


def worked_example(rank, world_size, answer):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    batches = [(torch.tensor(inputs), torch.tensor(targets)) for inputs, targets in BATCHES[rank]]
    held_out = torch.ones(rank, 1), torch.ones(rank, 1)
    logged = []
    history = answer.fit(
        wrapped, F.mse_loss, optimizer, batches, held_out, epochs=1, patience=1, log=logged.append
    )
    return [float(x) for x in history], [float(x) for x in logged], model.weight.detach()


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement ends on both ranks, with its loss, its weight and its log."""
    for rank, (history, logged, weight) in enumerate(run_ranks(2, worked_example, answer=answer)):
        expect_close(torch.tensor(history), torch.tensor([0.49]), f"fit(…) on rank {rank}", ulps=100)
        expect_close(weight, torch.tensor([[1.7]]), f"the weight after fit(…) on rank {rank}")
        expect_equal(logged, [] if rank else [1.0], f"what is logged on rank {rank}")
