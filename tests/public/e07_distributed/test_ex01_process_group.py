"""The contract of process_group."""

import os

import pytest
import torch
import torch.distributed as dist

from grader.checks import expect_equal
from grader.checks.distributed import run_ranks

TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


def join(rank, world_size, answer, alone):
    """What one process sees inside the block and after it. Rank 1 is the first one of another machine."""
    os.environ["LOCAL_RANK"] = "0"
    if alone:
        for name in (*TORCHRUN, "TORCHELASTIC_USE_AGENT_STORE"):
            del os.environ[name]
    with answer.process_group() as me:
        total = torch.tensor([rank + 1])
        dist.all_reduce(total)
        inside = dist.get_rank(), dist.get_world_size(), dist.get_backend(), total.item()
    return (me.rank, me.local_rank, me.world_size, me.device), inside, dist.is_initialized()


def expect_member(found, wanted, inside, where):
    """The three parts that `join` returns."""
    member, group, after = found
    names = ("rank", "local_rank", "world_size", "device")
    for name, mine, right in zip(names, member, wanted, strict=True):
        expect_equal(mine, right, f"me.{name} {where}")
    expect_equal(group, inside, f"the rank, the size, the backend of the group, and a sum over it, {where}")
    expect_equal(after, False, f"dist.is_initialized() after the block, {where}")


@pytest.mark.multi_process
def test_under_torchrun(answer):
    """Two processes with the environment of torchrun are a group of two in the block, and none after it."""
    for rank, found in enumerate(run_ranks(2, join, False, answer=answer, init=False)):
        where = f"with RANK={rank}, WORLD_SIZE=2, LOCAL_RANK=0"
        expect_member(found, (rank, 0, 2, torch.device("cpu")), (rank, 2, "gloo", 3), where)


@pytest.mark.multi_process
def test_alone(answer):
    """Without the environment of torchrun, a process is a group of one."""
    (found,) = run_ranks(1, join, True, answer=answer, init=False)
    expect_member(found, (0, 0, 1, torch.device("cpu")), (0, 1, "gloo", 1), "without RANK in the environment")


def test_local_device(answer, monkeypatch):
    """LOCAL_RANK picks the device, except on the CPU, which has no number."""
    monkeypatch.setenv("LOCAL_RANK", "1")
    expect_equal(
        answer.local_device("cuda"), torch.device("cuda", 1), 'local_device("cuda") with LOCAL_RANK=1'
    )
    expect_equal(answer.local_device("cpu"), torch.device("cpu"), 'local_device("cpu") with LOCAL_RANK=1')
