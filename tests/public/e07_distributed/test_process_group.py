"""The worked example of process_group, with two processes on the CPU, and a device."""

import os

import pytest
import torch
import torch.distributed as dist

from grader.checks import expect_equal
from grader.checks.distributed import run_ranks


def test_local_device(answer, monkeypatch):
    """LOCAL_RANK picks the device, except on the CPU, which has no number."""
    monkeypatch.setenv("LOCAL_RANK", "1")
    for kind, wanted in {"cuda": torch.device("cuda", 1), "cpu": torch.device("cpu")}.items():
        expect_equal(answer.local_device(kind), wanted, f'local_device("{kind}") with LOCAL_RANK=1')


def join(rank, world_size, answer):
    os.environ["LOCAL_RANK"] = "0"  # rank 1 is the first one of another machine
    with answer.process_group() as me:
        total = torch.tensor([rank + 1])
        dist.all_reduce(total)
        found = (me.rank, me.local_rank, me.world_size, str(me.device)), total.item()
    return *found, dist.is_initialized()


@pytest.mark.multi_process
def test_under_torchrun(answer):
    """Two processes with the environment of torchrun are a group of two in the block, and none after it."""
    for rank, (me, total, after) in enumerate(run_ranks(2, join, answer=answer, init=False)):
        where = f"with RANK={rank}, WORLD_SIZE=2, LOCAL_RANK=0"
        expect_equal(me, (rank, 0, 2, "cpu"), f"rank, local_rank, world_size and device of me {where}")
        expect_equal(total, 3, f"the sum of rank + 1 over the group {where}")
        expect_equal(after, False, f"dist.is_initialized() after the block {where}")
