"""The contract of dropout."""

import torch

from grader.checks import expect_equal, expect_raises, expect_that


def test_training(answer):
    """In training about half of the numbers are dropped, and the others grow to twice their size."""
    y = answer.Dropout(p=0.5)(torch.ones(1000))
    expect_equal(sorted(set(y.tolist())), [0.0, 2.0], "the numbers in Dropout(p=0.5)(torch.ones(1000))")
    dropped = int((y == 0).sum())
    expect_that(400 < dropped < 600, "Dropout(p=0.5) drops too few or too many", yours=f"{dropped} of 1000")


def test_evaluation(answer):
    """In evaluation mode nothing is dropped."""
    x = torch.arange(6.0)
    expect_equal(answer.Dropout(p=0.5).eval()(x), torch.arange(6.0), "drop.eval()(x)")


def test_bad_probability(answer):
    """A probability below 0 or above 1 raises ValueError."""
    expect_raises(ValueError, lambda: answer.Dropout(p=1.5), "Dropout(p=1.5)")
    expect_raises(ValueError, lambda: answer.Dropout(p=-0.1), "Dropout(p=-0.1)")
