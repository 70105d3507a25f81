"""The suite of only_rank_zero_writes, on two real processes."""

import time
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

SLOW = 0.2
"""Seconds that a file takes, in which those who do not wait go on."""


def written(rank, world_size, answer, states, path, slow=0.0):
    """What this rank returns, and how often it saved; None where it found no file."""
    save, saves = torch.save, []

    def slowly(*args, **kwargs):
        saves.append(rank)
        time.sleep(slow)
        save(*args, **kwargs)

    with mock.patch("torch.save", slowly):
        try:
            return answer.only_rank_zero_writes({"weight": states[rank]}, path), len(saves)
        except FileNotFoundError:
            return None, len(saves)


def run(answer, states, slow=0.0):
    """What `written` returns on each rank."""
    with TemporaryDirectory() as folder:
        return run_ranks(len(states), written, states, f"{folder}/model.pt", slow, answer=answer)


def expect_first(found, states):
    for rank, (yours, _) in enumerate(found):
        call = f"only_rank_zero_writes(state, path) on rank {rank} of {len(states)}"
        expect_equal(list(yours), ["weight"], f"the names in the result of {call}")
        told = "this is the rank's own state: load the file that rank 0 has saved"
        told = told if rank else "this is the state of another rank, which has written over the file"
        own = {told: lambda rank=rank: states[rank or -1]}
        expect_close(yours["weight"], states[0], f'{call}, at ["weight"]', suspects=own)


def test_others_wait(answer, gen):
    """The others go on when the file is there, and not before."""
    states = torch.randn(2, 4, generator=gen)
    found = run(answer, states, SLOW)
    for rank, (yours, _) in enumerate(found):
        what = f"rank {rank} loads before the file is there: dist.barrier() comes after saving, on every rank"
        expect_that(yours is not None or rank == 0, what)
    expect_first(found, states)


def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks."""
    states = torch.tensor([2.0, 3.0])
    expect_first(run(answer, states), states)


def test_one_writes(answer, gen):
    """Rank 0 saves, and no other."""
    for rank, (_, saves) in enumerate(run(answer, torch.randn(2, 4, generator=gen))):
        wanted = 1 if rank == 0 else 0
        what = f"rank {rank} saves the file {saves} times: only rank 0 is to do it, once"
        expect_that(saves == wanted, what, yours=saves, wanted=wanted)


def oracle(answer, gen):
    (first, _), (second, _) = run(answer, torch.randn(2, 4, generator=gen))
    return {
        "rank 0": first,
        "rank 1": second,
        "another file, and how often each rank saves it": run(answer, torch.randn(2, 7, generator=gen)),
    }
