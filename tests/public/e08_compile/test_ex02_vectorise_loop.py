"""The contract of pool_words."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_flat_cost

STATES = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [9.0, 9.0]]])
WORD_IDS = torch.tensor([[0, 1, 1, -1]])


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    yours = answer.pool_words(STATES.clone(), WORD_IDS.clone(), words=3)
    wanted = torch.tensor([[[1.0, 2.0], [4.0, 5.0], [0.0, 0.0]]])
    expect_close(yours, wanted, "pool_words(states, word_ids, words=3)", dims="batch words dim")


def test_dtype(answer):
    """The means have the dtype of states."""
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        yours = answer.pool_words(STATES.to(dtype), WORD_IDS.clone(), 2)
        expect_equal(yours.dtype, dtype, f"the dtype of pool_words(states, …) with {dtype} states")


@pytest.mark.parametrize("over", ["batch", "words"])
def test_no_loop(answer, over):
    """The number of operations does not grow with the batch, nor with the number of words."""

    def make(n):
        batch, words = (n, 3) if over == "batch" else (2, n)
        states, word_ids = torch.ones(batch, 30, 2), (torch.arange(batch * 30) % words).view(batch, 30)
        return lambda: answer.pool_words(states, word_ids, words)

    expect_flat_cost(make, "pool_words(states, word_ids, words)", over=over)
