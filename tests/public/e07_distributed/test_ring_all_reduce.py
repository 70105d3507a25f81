"""The worked example of ring_all_reduce."""

import pytest
import torch

from grader.checks import expect_close
from grader.checks.distributed import run_ranks


def worked_example(rank, world_size, answer):
    x = torch.tensor([1.0, 2.0, 3.0]) * 10**rank
    answer.ring_all_reduce(x)
    return x


def are_partial(sums):
    """Whether each has the digits 0 and 1 alone: it counts ranks once or not at all."""
    return all(set(f"{number:g}") <= {"0", "1"} for number in sums.tolist())


@pytest.mark.multi_process
@pytest.mark.parametrize(("ranks", "factor"), [(2, 11), (3, 111)], ids=["two ranks", "three ranks"])
def test_worked_example(answer, ranks, factor):
    """The worked example of the statement comes out, on all of three ranks, and on the first two alone."""
    one = torch.tensor([1.0, 2.0, 3.0])
    wanted, even = one * factor, 3 // ranks * ranks
    for rank, x in enumerate(run_ranks(ranks, worked_example, answer=answer)):
        own = one * 10**rank
        suspects = {
            "what is left over, where parts are not of one size, is not sent": lambda own=own: torch.cat(
                [wanted[:even], own[even:]]
            ),
            "some numbers are sums over a part of the ranks: the second half begins with what is whole": (
                lambda x=x, own=own: x if are_partial(x / one) and not (x == own).any() else None
            ),
        }
        call = f"x after ring_all_reduce(x) on rank {rank} of {ranks}"
        expect_close(x, wanted, call, suspects=suspects)
