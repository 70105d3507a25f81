"""The worked examples of next_token_windows."""

import torch

from grader.checks import expect_equal

TOKENS = [7, 3, 9, 4, 1, 8, 2]


def test_stride(answer):
    """Windows of the first worked example overlap by one token."""
    x, y = answer.next_token_windows(torch.tensor(TOKENS), block=3, stride=2)
    call = "next_token_windows(tokens, block=3, stride=2)"
    beside = {
        "windows begin a block apart: they begin `stride` apart": lambda: torch.tensor([[7, 3, 9], [4, 1, 8]])
    }
    wanted = torch.tensor([[7, 3, 9], [9, 4, 1]])
    expect_equal(x, wanted, f"x from {call}", dims="windows block", suspects=beside)
    expect_equal(y, torch.tensor([[3, 9, 4], [4, 1, 8]]), f"y from {call}", dims="windows block")


def test_offset(answer):
    """The second worked example has one window: a second would lack its last target."""
    x, y = answer.next_token_windows(torch.tensor(TOKENS), block=3, stride=3, offset=1)
    call = "next_token_windows(tokens, block=3, stride=3, offset=1)"
    untold = {
        "a window is there whose last token has none after it": lambda: torch.tensor([[3, 9, 4], [1, 8, 2]])
    }
    expect_equal(x, torch.tensor([[3, 9, 4]]), f"x from {call}", dims="windows block", suspects=untold)
    expect_equal(y, torch.tensor([[9, 4, 1]]), f"y from {call}", dims="windows block")
