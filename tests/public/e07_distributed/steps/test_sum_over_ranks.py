"""The suite of sum_over_ranks, on two and three real processes."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def added(rank, world_size, answer, inputs):
    """What the answer returns for this rank's x, and what has become of x."""
    x = inputs[rank]
    return answer.sum_over_ranks(x), x


def expect_sums(answer, inputs):
    """`inputs[rank]` is the x of a rank."""
    total = inputs.sum(0)
    for rank, (yours, _) in enumerate(run_ranks(len(inputs), added, inputs, answer=answer)):
        pair = isinstance(yours, tuple) and len(yours) == 2
        expect_that(pair, "sum_over_ranks(x) returns no pair: the sum, and the mean", yours=yours)
        where = f"on rank {rank} of {len(inputs)}"
        own = {"this is the x of this rank alone": lambda rank=rank: inputs[rank]}
        mean = total / len(inputs)
        expect_close(
            yours[0], total, f"sum_over_ranks(x)[0] {where}", suspects=own | {"the mean": lambda m=mean: m}
        )
        swapped = {
            "this is the sum, not the mean": lambda: total,
            "the sum is divided by 2, however many ranks there are": lambda: total / 2,
        }
        expect_close(yours[1], mean, f"sum_over_ranks(x)[1] {where}", suspects=own | swapped)


def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks."""
    expect_sums(answer, torch.tensor([[3.0, 8.0], [5.0, 0.0]]))


def test_values(answer, gen):
    """Three ranks and a table come out as well."""
    expect_sums(answer, torch.randn(3, 2, 4, generator=gen))


def test_x_stays(answer):
    """x stays as it is: all_reduce writes into what it is given, so that has to be a copy."""
    inputs = torch.tensor([[3.0, 8.0], [5.0, 0.0]])
    for rank, (_, x) in enumerate(run_ranks(2, added, inputs, answer=answer)):
        written = {
            "x holds the sum: all_reduce writes into what it gets, so give it a copy": lambda: inputs.sum(0)
        }
        expect_equal(x, inputs[rank], f"x after sum_over_ranks(x) on rank {rank}", suspects=written)


def oracle(answer, gen):
    inputs = torch.randn(3, 2, 3, generator=gen)
    return {
        f"rank {n} of 3": yours for n, (yours, _) in enumerate(run_ranks(3, added, inputs, answer=answer))
    }
