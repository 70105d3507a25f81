"""The suite of who_am_i."""

import os
from unittest import mock

import torch

from grader.checks import expect_equal, expect_that


def asked(answer, environment):
    """What the answer says where these variables are set, and RANK and WORLD_SIZE are not otherwise."""
    others = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    with mock.patch.dict(os.environ, others | environment, clear=True):
        return answer.who_am_i()


def torchrun(rank, size):
    """The environment of a process; there are two on each machine."""
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank % 2), "LOCAL_WORLD_SIZE": "2"}


def drawn(gen):
    size = int(torch.randint(100, 1000, (), generator=gen))
    return int(torch.randint(2, size, (), generator=gen)), size


def expect_answer(yours, wanted, where):
    told = isinstance(yours, tuple) and any(isinstance(part, str) for part in yours)
    what = f"who_am_i() returns text {where}: int(...) makes a number of it"
    expect_that(not told, what, yours=repr(yours), wanted=repr(wanted))
    rank, size = wanted
    suspects = {
        "this is always so: RANK and WORLD_SIZE are not read": lambda: (0, 1),
        "this is LOCAL_RANK, the number on this machine: RANK is the one among all": lambda: (rank % 2, size),
    }
    expect_equal(yours, wanted, f"who_am_i() {where}", suspects=suspects)


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    expect_answer(asked(answer, torchrun(2, 4)), (2, 4), "with RANK=2 and WORLD_SIZE=4")


def test_values(answer, gen):
    """Each process learns its number and how many there are."""
    for rank, size in [drawn(gen) for _ in range(3)]:
        where = f"with RANK={rank} and WORLD_SIZE={size}"
        expect_answer(asked(answer, torchrun(rank, size)), (rank, size), where)


def test_alone(answer):
    """Without the two variables the process is number 0 of 1."""
    expect_answer(asked(answer, {}), (0, 1), "without RANK and WORLD_SIZE")


def oracle(answer, gen):
    processes = [drawn(gen) for _ in range(3)]
    return {f"process {rank} of {size}": asked(answer, torchrun(rank, size)) for rank, size in processes}
