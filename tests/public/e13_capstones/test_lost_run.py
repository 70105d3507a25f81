"""What the README of lost_run promises."""

import random
import tempfile
from pathlib import Path

import pytest
import torch

from grader.checks import expect_equal, expect_that


@pytest.fixture(autouse=True)
def streams():
    """The random streams, as they were."""
    before, python = torch.get_rng_state(), random.getstate()
    yield
    torch.set_rng_state(before)
    random.setstate(python)


def test_same_run(answer):
    """A run that is killed and started again goes on where it was, and ends as one that never was killed."""
    with tempfile.TemporaryDirectory() as name:
        whole, losses = answer.train.train(Path(name, "whole"), 44)
        for until in (17, 38):
            answer.train.train(Path(name, "parts"), until)
        again, log = answer.train.train(Path(name, "parts"), 44)
    first = [number for number, _ in log[:1]]
    what = "killed after batch 38, with checkpoints every 5 batches, a run does not go on with batch 36"
    expect_that(first == [36], what, first_batch=first)
    for (number, loss), (_, wanted) in zip(log, losses[35:], strict=True):
        expect_equal(loss, wanted, f"the loss of batch {number} after a resume, compared with no kill,")
    for name, weight in again.model.state_dict().items():
        expect_equal(weight, whole.model.state_dict()[name], f"{name} at the end")
    kept = answer.train.accuracy(again.model, again.best_weights)
    expect_equal(kept, again.best, "the accuracy of the weights that were kept as the best")
