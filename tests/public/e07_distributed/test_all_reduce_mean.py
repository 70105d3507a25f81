"""The worked example of all_reduce_mean, with integers and floats."""

import pytest
import torch

from grader.checks import expect_close, expect_equal
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

NUMBERS = [[1, 4], [2, 6]]


def both_ways(rank, world_size, answer, dtype):
    """The mean at once, what is left of the input, and the mean by a handle, of an input of its own."""
    x, y = (torch.tensor(NUMBERS[rank], dtype=dtype) for _ in range(2))
    return answer.all_reduce_mean(x), x, answer.all_reduce_mean(y, async_op=True).wait()


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64], ids=["integers", "floats"])
def test_worked_example(answer, dtype):
    """The worked example of the statement comes out on both ranks, at once and by a handle."""
    wanted = torch.tensor([1.5, 5.0], dtype=dtype if dtype.is_floating_point else torch.float32)
    for rank, (mean, x, later) in enumerate(run_ranks(2, both_ways, dtype, answer=answer)):
        where = f"of {dtype} on rank {rank}"
        told = {"it holds the mean or the sum: all_reduce is to get a copy": lambda x=x: x}
        expect_close(mean, wanted, f"all_reduce_mean(x) {where}")
        before = torch.tensor(NUMBERS[rank], dtype=dtype)
        expect_equal(x, before, f"x after all_reduce_mean(x) {where}", suspects=told)
        expect_close(later, wanted, f"all_reduce_mean(x, async_op=True).wait() {where}")
