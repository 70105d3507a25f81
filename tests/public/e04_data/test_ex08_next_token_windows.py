"""The contract of next_token_windows."""

import torch

from grader.checks import expect_equal, expect_raises

TOKENS = [7, 3, 9, 4, 1, 8, 2]


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    x, y = answer.next_token_windows(torch.tensor(TOKENS), block=3, stride=2)
    expect_equal(x, torch.tensor([[7, 3, 9], [9, 4, 1]]), "x", dims="windows block")
    expect_equal(y, torch.tensor([[3, 9, 4], [4, 1, 8]]), "y", dims="windows block")
    x, y = answer.next_token_windows(torch.tensor(TOKENS), block=3, stride=3, offset=1)
    expect_equal(x, torch.tensor([[3, 9, 4]]), "x with offset=1", dims="windows block")
    expect_equal(y, torch.tensor([[9, 4, 1]]), "y with offset=1", dims="windows block")


def test_too_short(answer):
    """Where no window fits, the shapes are (0, block)."""
    x, y = answer.next_token_windows(torch.tensor(TOKENS), block=7)
    expect_equal((tuple(x.shape), tuple(y.shape)), ((0, 7), (0, 7)), "the shapes of 7 tokens with block=7")


def test_bad_input(answer):
    """A table of tokens, or a block of 0, raises ValueError."""
    tokens = torch.tensor(TOKENS)
    expect_raises(ValueError, lambda: answer.next_token_windows(tokens, 0), "next_token_windows(tokens, 0)")
    table = tokens[None]
    expect_raises(
        ValueError, lambda: answer.next_token_windows(table, 2), "next_token_windows(tokens[None], 2)"
    )
