"""The worked example of dropout."""

import torch

from grader.checks import expect_close, expect_that


def test_training(answer):
    """In training about half of the numbers are dropped, and the others grow to twice their size."""
    y = answer.Dropout(p=0.5)(torch.ones(1000))
    expect_that(1.0 not in y, "what remains is not divided by 1 - p: Dropout(p=0.5) leaves ones as they are")
    wanted = torch.tensor([0.0, 2.0])
    expect_close(y.unique(), wanted, "the numbers in Dropout(p=0.5)(torch.ones(1000))")
    dropped = int((y == 0).sum())
    expect_that(400 < dropped < 600, "Dropout(p=0.5) drops too few or too many", yours=f"{dropped} of 1000")


def test_evaluation(answer):
    """In evaluation mode nothing is dropped."""
    x = torch.arange(6.0)
    y = answer.Dropout(p=0.5).eval()(x)
    expect_that(y.tolist() == x.tolist(), "drop.eval()(x) is not x", yours=y, wanted=x)
