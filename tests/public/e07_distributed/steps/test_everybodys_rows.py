"""The suite of everybodys_rows, on two and three real processes."""

import pytest
import torch

from grader.checks import expect_close
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def gathered(rank, world_size, answer, shares):
    return answer.everybodys_rows(shares[rank])


def expect_rows(answer, shares):
    """`shares[rank]` has the rows of a rank."""
    suspects = {
        "there is a dimension too much: torch.cat puts rows under each other, torch.stack does not": lambda: (
            shares
        ),
        "the list holds one tensor several times: make a new one for each rank": (
            lambda: shares[-1].repeat(len(shares), 1)
        ),
        "the parts stand side by side: cat along dim 0": lambda: torch.cat(list(shares), 1),
    }
    for rank, yours in enumerate(run_ranks(len(shares), gathered, shares, answer=answer)):
        call = f"everybodys_rows(x) on rank {rank} of {len(shares)}"
        others = [part for other, part in enumerate(shares) if other != rank]
        first = {
            "its own rows come first: the order is that of the ranks": lambda r=rank, o=others: torch.cat(
                [shares[r], *o]
            )
        }
        wanted = shares.flatten(0, 1)
        expect_close(yours, wanted, call, dims="rows columns", suspects=suspects | first)


def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks."""
    expect_rows(answer, torch.tensor([[[1.0, 2.0]], [[3.0, 4.0]]]))


def test_values(answer, gen):
    """Three ranks with several rows each come out in the order of the ranks."""
    expect_rows(answer, torch.randn(3, 2, 4, generator=gen))


def oracle(answer, gen):
    shares = torch.randn(3, 2, 4, generator=gen)
    return {f"rank {rank}": rows for rank, rows in enumerate(run_ranks(3, gathered, shares, answer=answer))}
