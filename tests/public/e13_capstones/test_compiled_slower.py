"""The run of compiled_slower, shortened."""

import pytest
import torch

from grader.checks import expect_that


@pytest.fixture(autouse=True)
def _fresh():
    before = torch.get_rng_state()
    torch.compiler.reset()
    yield
    torch.compiler.reset()
    torch.set_rng_state(before)


def test_worked_example(answer):
    """Two epochs and an evaluation take two or three graphs, of about 70 operations."""
    said = []
    operations = answer.train.train(epochs=2, say=said.append)
    facts = {"graphs": len(operations), "operations_at_most": max(operations, default=0), "said": said[-1]}
    what = "two epochs and an evaluation take other than two or three graphs"
    expect_that(2 <= len(operations) <= 3, what, **facts)
    expect_that(max(operations) < 100, "a graph has 100 operations or more", **facts)
