"""The worked example of all_reduce_mean, with integers and floats."""

import pytest
import torch

from grader.checks import expect_close, expect_equal
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

NUMBERS = [[1, 4], [2, 6]]


def both_ways(rank, world_size, answer, dtype):
    """The mean at once, the mean by a handle, and what is left of the input."""
    x = torch.tensor(NUMBERS[rank], dtype=dtype)
    return answer.all_reduce_mean(x), answer.all_reduce_mean(x, async_op=True).wait(), x


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64], ids=["integers", "floats"])
def test_worked_example(answer, dtype):
    """The worked example of the statement comes out on both ranks, at once and by a handle."""
    wanted = torch.tensor([1.5, 5.0], dtype=dtype if dtype.is_floating_point else torch.float32)
    for rank, (mean, later, x) in enumerate(run_ranks(2, both_ways, dtype, answer=answer)):
        where = f"of {dtype} on rank {rank}"
        expect_close(mean, wanted, f"all_reduce_mean(x) {where}")
        expect_close(later, wanted, f"all_reduce_mean(x, async_op=True).wait() {where}")
        expect_equal(x, torch.tensor(NUMBERS[rank], dtype=dtype), f"x after all_reduce_mean(x) {where}")
