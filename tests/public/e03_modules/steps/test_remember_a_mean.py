"""The suite of remember_a_mean."""

import torch

from grader.checks import expect_equal, expect_that
from grader.checks.contract import Contract, given


def test_saved(answer):
    """The mean is saved with the module, under the name "mean"."""
    saved = answer.Center(torch.tensor([1.0, 10.0])).state_dict()
    what = "the mean is not saved with the module: a plain tensor is forgotten, register it as a buffer"
    expect_that(len(saved) > 0, what)
    expect_equal(list(saved), ["mean"], "what Center(mean) saves")


def test_not_learned(answer):
    """Training leaves the mean alone."""
    count = len(list(answer.Center(torch.tensor([1.0, 10.0])).parameters()))
    suspects = {"nn.Parameter is for what is learned: register a buffer": lambda: 1}
    expect_equal(count, 0, "the number of parameters in Center(mean)", suspects=suspects)


contract = Contract(
    "center(x, mean)",
    reference=lambda x, mean: x - mean,
    example=(([[3.0, 10.0]], [1.0, 10.0]), [[2.0, 0.0]]),
    inputs=lambda gen: [
        given(torch.randn(rows, size, generator=gen), torch.randn(size, generator=gen))
        for rows, size in [(5, 4), (3, 3), (1, 6)]
    ],
    use=lambda answer, x, mean: answer.Center(mean)(x),
    suspects={
        "it is the mean of x, not the one that is given": lambda x, mean: x - x.mean(0),
        "the mean is added": lambda x, mean: x + mean,
    },
)
