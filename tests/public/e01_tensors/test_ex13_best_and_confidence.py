"""The contract of best_and_confidence."""

import math

import torch

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    logits = torch.tensor([[0.0, math.log(3.0)], [math.log(4.0), 0.0]])
    best, confidence = answer.best_and_confidence(logits)
    expect_equal(best, torch.tensor([1, 0]), "best of best_and_confidence(logits)")
    expect_close(
        confidence,
        torch.tensor([0.75, 0.8]),
        "confidence of best_and_confidence(logits)",
        suspects={"the largest logit itself: softmax makes a probability of it": lambda: logits.amax(1)},
    )


def test_shapes_and_dtypes(answer):
    """(batch, time, classes) gives two results of (batch, time): int64, and the dtype of logits."""
    logits = torch.arange(24, dtype=torch.float64).view(2, 3, 4)
    best, confidence = answer.best_and_confidence(logits)
    expect_equal(best.shape, torch.Size([2, 3]), "the shape of best")
    expect_equal(best.dtype, torch.int64, "the dtype of best")
    expect_equal(
        (confidence.shape, confidence.dtype),
        (torch.Size([2, 3]), torch.float64),
        "shape and dtype of confidence",
    )
