"""The contract of stable_softmax."""

import math

import torch

from grader.checks import expect_close, expect_equal


def logits():
    return torch.tensor([[0.0, 0.0, math.log(2.0)], [1e4, 1e4, -math.inf]])


def test_softmax_example(answer):
    """The worked example of softmax comes out."""
    wanted = torch.tensor([[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]])
    expect_close(answer.softmax(logits(), dim=1), wanted, "softmax(logits, dim=1)", dims="batch class")


def test_logsumexp_example(answer):
    """The worked example of logsumexp comes out."""
    wanted = torch.tensor([math.log(4.0), 1e4 + math.log(2.0)])
    peak, total = torch.tensor([math.log(2.0)]), torch.tensor([2.0])  # of the first row, less its peak
    suspects = {
        "the peak is added before the logarithm, not after it": lambda: (total + peak).log(),
        "the peak is not added again after the logarithm": lambda: total.log(),
    }
    yours = answer.logsumexp(logits()[:1], dim=1)
    expect_close(yours, wanted[:1], "logsumexp(logits, dim=1)", dims="batch", suspects=suspects)
    expect_close(answer.logsumexp(logits(), dim=1), wanted, "logsumexp(logits, dim=1)", dims="batch")


def test_shapes_and_dtypes(answer):
    """softmax keeps the shape, logsumexp drops `dim`, and both keep the dtype."""
    x = torch.zeros(2, 3, 4, dtype=torch.float16)
    p, s = answer.softmax(x, 1), answer.logsumexp(x, 1)
    expect_equal(p.shape, torch.Size([2, 3, 4]), "the shape of softmax(x, dim)")
    expect_equal(p.dtype, torch.float16, "the dtype of softmax(x, dim)")
    expect_equal(s.shape, torch.Size([2, 4]), "the shape of logsumexp(x, dim)")
    expect_equal(s.dtype, torch.float16, "the dtype of logsumexp(x, dim)")
