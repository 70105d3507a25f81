"""The contract of causal_mask."""

import math

import torch

from grader.checks import expect_equal, expect_raises

DIMS = "query key"


def test_masks_of_the_statement(answer):
    """The worked examples of causal_mask come out, as bool."""
    square = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
    expect_equal(answer.causal_mask(3, 3), square, "causal_mask(3, 3)", dims=DIMS)
    wide = torch.tensor([[True, True, True, True, False], [True, True, True, True, True]])
    expect_equal(answer.causal_mask(2, 5), wide, "causal_mask(2, 5)", dims=DIMS)


def test_scores_of_the_statement(answer):
    """The worked example of mask_scores comes out."""
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    wanted = torch.tensor([[1.0, -math.inf], [3.0, 4.0]])
    expect_equal(answer.mask_scores(scores), wanted, "mask_scores(scores)", dims=DIMS)


def test_more_queries_than_keys(answer):
    """More queries than keys is a ValueError."""
    expect_raises(ValueError, lambda: answer.causal_mask(4, 3), "causal_mask(4, 3)")
    expect_raises(
        ValueError, lambda: answer.mask_scores(torch.zeros(2, 4, 3)), "mask_scores(scores) of shape (2, 4, 3)"
    )
