"""The worked example of pool_words, and that it has no loop."""

import pytest
import torch

from grader.checks import expect_close, expect_flat_cost


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    states = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [9.0, 9.0]]])
    yours = answer.pool_words(states, torch.tensor([[0, 1, 1, -1]]), words=3)
    wanted = torch.tensor([[[1.0, 2.0], [4.0, 5.0], [0.0, 0.0]]])
    suspects = {
        "padding counts: -1, as an index, is the last word": lambda: (
            wanted + torch.tensor([[0.0], [0.0], [9.0]])
        ),
        "these are sums": lambda: wanted * torch.tensor([[1.0], [2.0], [1.0]]),
    }
    call = "pool_words(states, word_ids, words=3)"
    expect_close(yours, wanted, call, dims="batch words dim", suspects=suspects)


@pytest.mark.parametrize("over", ["batch", "words"])
def test_no_loop(answer, over):
    """The number of operations does not grow with the batch, nor with the number of words."""

    def make(n):
        batch, words = (n, 3) if over == "batch" else (2, n)
        states, word_ids = torch.ones(batch, 30, 2), (torch.arange(batch * 30) % words).view(batch, 30)
        return lambda: answer.pool_words(states, word_ids, words)

    expect_flat_cost(make, "pool_words(states, word_ids, words)", over=over)
