"""What the README of ranks_apart promises: two ranks train one model, and it learns."""

import tempfile

import pytest

from grader.checks import expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def run(rank, world_size, answer, folder):
    model, losses, accuracies = answer.train.fit(folder, 3)
    return model.state_dict(), losses, accuracies


def test_one_run(answer):
    """Three epochs on two ranks end, with the same weights and numbers on both, as promised."""
    with tempfile.TemporaryDirectory() as folder:
        found = run_ranks(2, run, folder, answer=answer, timeout=60)
    (weights, losses, accuracies), (others, its_losses, its_accuracies) = found
    for name, weight in weights.items():
        expect_equal(others[name], weight, f"{name} on rank 1, compared with rank 0,")
    expect_equal(its_losses, losses, "the losses on rank 1, compared with rank 0,")
    expect_equal(its_accuracies, accuracies, "the accuracies on rank 1, compared with rank 0,")
    what = "the accuracy after three epochs is low"
    expect_that(accuracies[-1] > 0.8, what, yours=accuracies[-1])
