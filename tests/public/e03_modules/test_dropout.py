"""The worked example of dropout."""

import torch

from grader.checks import expect_close, expect_that


def test_training(answer):
    """In training about a fifth of the numbers is dropped, and the others grow by a quarter."""
    y = answer.Dropout(p=0.2)(torch.ones(1000))
    expect_that(1.0 not in y, "what remains is not divided by 1 - p: Dropout(p=0.2) leaves ones as they are")
    found, likely = y.unique(), "one draw for many numbers: torch.rand_like(x) has one for each"
    expect_that(len(found) > 1, "Dropout(p=0.2) drops all 1000 numbers or none", likely=likely)
    suspects = {"what remains is divided by p: divide it by 1 - p": lambda: torch.tensor([0.0, 5.0])}
    call = "the numbers in Dropout(p=0.2)(torch.ones(1000))"
    expect_close(found, torch.tensor([0.0, 1.25]), call, suspects=suspects)
    dropped = int((y == 0).sum())
    likely = "p is taken for the probability to keep" if dropped > 700 else ""
    told = "Dropout(p=0.2) drops too few or too many"
    expect_that(120 < dropped < 280, told, yours=f"{dropped} of 1000", likely=likely)


def test_evaluation(answer):
    """In evaluation mode nothing is dropped."""
    x = torch.arange(1.0, 101.0)
    y = answer.Dropout(p=0.2).eval()(x)
    likely = "it drops in evaluation mode, too: ask self.training" if 0.0 in y else ""
    expect_that(y.tolist() == x.tolist(), "drop.eval()(x) is not x", yours=y, wanted=x, likely=likely)
