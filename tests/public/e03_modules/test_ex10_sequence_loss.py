"""The contract of sequence_loss."""

import math

import torch

from grader.checks import expect_close, expect_raises


def logits():
    return torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0]]])


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    yours = answer.sequence_loss(logits(), torch.tensor([[0, 1]]))
    expect_close(yours, torch.tensor(0.49041463), "sequence_loss(logits, targets)")


def test_padding(answer):
    """Padding does not count, neither in the sum nor in the number of tokens."""
    yours = answer.sequence_loss(logits(), torch.tensor([[0, -100]]))
    expect_close(yours, torch.tensor(-math.log(0.75)), "sequence_loss(logits, targets) with padding")


def test_perfect_prediction(answer):
    """A model that predicts every token with certainty has a loss of 0."""
    targets = torch.tensor([[0, 2, 1], [2, 2, 0]])
    perfect = torch.full((2, 3, 4), -50.0).scatter(2, targets.unsqueeze(2), 50.0)
    expect_close(answer.sequence_loss(perfect, targets), torch.tensor(0.0), "the loss of perfect logits")


def test_bad_input(answer):
    """Targets of another shape raise ValueError."""
    expect_raises(
        ValueError,
        lambda: answer.sequence_loss(torch.zeros(2, 3, 4), torch.zeros(2, 4, dtype=torch.long)),
        "sequence_loss(logits (2, 3, 4), targets (2, 4))",
    )
