"""The worked example of sharded_checkpoint, on two ranks and on one."""

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from grader.checks import expect_close, expect_equal
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def step(rank, world_size, answer, weight, before, after):
    """Load where there is something to load, take a step, and save where that is wanted."""
    model = nn.Linear(2, 1, bias=False)
    model.load_state_dict({"weight": weight})
    fully_shard(model, mesh=init_device_mesh("cpu", (world_size,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    step = answer.load(model, optimizer, before) if before else 1
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    if after:
        answer.save(model, optimizer, after, step=7)
    return step, model.weight.full_tensor().detach()


def test_worked_example(answer, tmp_path):
    """The worked example of the statement comes out: saved by two ranks, loaded by one."""
    start, folder = torch.tensor([[1.0, 2.0]]), tmp_path / "checkpoint"
    for rank, (_, yours) in enumerate(run_ranks(2, step, start, None, folder, answer=answer)):
        expect_close(yours, start - 0.1, f"the weight after one step and save(…) on rank {rank}")
    suspects = {"the momentum is not loaded": lambda: start - 0.2}
    for number, yours in run_ranks(1, step, 0 * start, folder, None, answer=answer):
        expect_close(yours, start - 0.25, "the weight after load(…) and another step", suspects=suspects)
        expect_equal(number, 7, "load(model, optimizer, folder)")
