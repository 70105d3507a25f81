"""The contract of sample_top_k."""

import torch

from grader.checks import expect_equal, expect_raises, expect_that


def logits():
    return torch.tensor([[0.0, 9.0, 8.0, 1.0], [5.0, 0.0, 0.0, 5.0]])


def test_ids_of_the_example(answer, gen):
    """Draws from the worked example are ids of the two largest logits, as int64."""
    for _ in range(8):
        ids = answer.sample_top_k(logits(), 2, gen)
        expect_equal(ids.shape, torch.Size([2]), "the shape of sample_top_k(logits, k, generator)")
        expect_equal(ids.dtype, torch.int64, "the dtype of sample_top_k(logits, k, generator)")
        first, second = ids.tolist()
        expect_that(
            first in (1, 2),
            "row 0 drew an id that is not among the largest two",
            yours=first,
            wanted="1 or 2",
        )
        expect_that(
            second in (0, 3),
            "row 1 drew an id that is not among the largest two",
            yours=second,
            wanted="0 or 3",
        )


def test_one_is_greedy(answer, gen):
    """With k = 1 the largest logit always wins."""
    expect_equal(
        answer.sample_top_k(logits()[:1], 1, gen), torch.tensor([1]), "sample_top_k(logits[:1], 1, generator)"
    )


def test_impossible_k(answer, gen):
    """k of 0, or beyond the vocabulary, is a ValueError."""
    expect_raises(
        ValueError, lambda: answer.sample_top_k(logits(), 0, gen), "sample_top_k(logits, 0, generator)"
    )
    expect_raises(
        ValueError, lambda: answer.sample_top_k(logits(), 5, gen), "sample_top_k(logits, 5, generator)"
    )
