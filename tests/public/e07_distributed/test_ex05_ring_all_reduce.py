"""The worked example of ring_all_reduce."""

import pytest
import torch

from grader.checks import expect_close
from grader.checks.distributed import run_ranks


def worked_example(rank, world_size, answer):
    x = torch.tensor([1.0, 2.0, 3.0]) * 10**rank
    answer.ring_all_reduce(x)
    return x


@pytest.mark.multi_process
@pytest.mark.parametrize(("ranks", "factor"), [(2, 11), (3, 111)], ids=["two ranks", "three ranks"])
def test_worked_example(answer, ranks, factor):
    """The worked example of the statement comes out, on all of three ranks, and on the first two alone."""
    wanted = torch.tensor([1.0, 2.0, 3.0]) * factor
    for rank, x in enumerate(run_ranks(ranks, worked_example, answer=answer)):
        expect_close(x, wanted, f"x after ring_all_reduce(x) on rank {rank} of {ranks}")
