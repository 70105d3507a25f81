"""The contract of save_checkpoint and load_checkpoint."""

import tempfile
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worked_example(rank, world_size, answer, path):
    model = DistributedDataParallel(nn.Linear(1, 1, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    nn.init.constant_(model.module.weight, 2.0)
    answer.save_checkpoint(path, model, optimizer, step=100)
    nn.init.constant_(model.module.weight, 5.0)
    step = answer.load_checkpoint(path, model, optimizer)
    return step, model.module.weight.detach()


def test_worked_example(answer):
    """The file has the three keys of the statement, and loading gives weight and step back on both ranks."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "run.pt"))
        found = run_ranks(2, worked_example, path, answer=answer)
        expect_that(Path(path).exists(), "save_checkpoint writes no file")
        checkpoint = torch.load(path)
    expect_equal(set(checkpoint), {"model", "optimizer", "step"}, "the keys of the checkpoint")
    expect_equal(list(checkpoint["model"]), ["weight"], "the names in the model's part")
    expect_close(checkpoint["model"]["weight"], torch.tensor([[2.0]]), "the weight in the checkpoint")
    for rank, (step, weight) in enumerate(found):
        expect_equal(step, 100, f"load_checkpoint(path, model, optimizer) on rank {rank}")
        expect_close(weight, torch.tensor([[2.0]]), f"the weight after load_checkpoint on rank {rank}")
