"""The worked example of save_checkpoint and load_checkpoint: keys, step and weight."""

import tempfile
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import run_ranks


def worked_example(rank, world_size, answer, path):
    model = DistributedDataParallel(nn.Linear(1, 1, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    nn.init.constant_(model.module.weight, 2.0)
    answer.save_checkpoint(path, model, optimizer, step=100)
    nn.init.constant_(model.module.weight, 5.0)
    step = answer.load_checkpoint(path, model, optimizer)
    return step, model.module.weight.detach()


@pytest.mark.multi_process
def test_worked_example(answer):
    """The file has the three keys of the statement, and loading gives weight and step back on both ranks."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "run.pt"))
        found = run_ranks(2, worked_example, path, answer=answer)
        expect_that(Path(path).exists(), "save_checkpoint writes no file")
        checkpoint = torch.load(path)
    missing = {"model", "optimizer", "step"} - set(checkpoint)
    expect_that(not missing, "keys are missing in the file", yours=list(checkpoint), missing=sorted(missing))
    expect_equal(checkpoint["step"], 100, "the step in the file")
    told = {"the weight is still the one before loading": lambda: torch.tensor([[5.0]])}
    for rank, (step, weight) in enumerate(found):
        expect_equal(step, 100, f"load_checkpoint(path, model, optimizer) on rank {rank}")
        where = f"the weight after load_checkpoint(…) on rank {rank}"
        expect_close(weight, torch.tensor([[2.0]]), where, suspects=told)
