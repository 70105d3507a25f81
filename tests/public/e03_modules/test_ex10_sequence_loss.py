"""The contract of sequence_loss."""

import math

import torch
from torch.nn import functional as F

from grader.checks import expect_close, expect_raises


def logits():
    return torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0]]])


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    targets = torch.tensor([[0, 1]])
    yours = answer.sequence_loss(logits(), targets)
    twice = "a softmax comes before: cross_entropy takes logits"
    suspects = {twice: lambda: F.cross_entropy(logits().softmax(-1)[0], targets[0])}
    expect_close(yours, torch.tensor(0.49041463), "sequence_loss(logits, targets)", suspects=suspects)


def test_padding(answer):
    """Padding does not count, neither in the sum nor in the number of tokens."""
    yours = answer.sequence_loss(logits(), torch.tensor([[0, -100]]))
    expect_close(yours, torch.tensor(-math.log(0.75)), "sequence_loss(logits, targets) with padding")


def test_perfect_prediction(answer):
    """A model that predicts every token with certainty has a loss of 0."""
    targets = torch.tensor([[0, 2, 1], [2, 2, 0]])
    perfect = torch.full((2, 3, 4), -50.0).scatter(2, targets.unsqueeze(2), 50.0)
    yours = answer.sequence_loss(perfect, targets)
    suspects = {
        "softmax runs over time: the classes are the last dimension": lambda: F.nll_loss(
            perfect.log_softmax(1).flatten(0, 1), targets.flatten()
        ),
        "dimensions are reshaped, which moves logits to other tokens: swap them, or flatten both": lambda: (
            F.cross_entropy(perfect.reshape(2, 4, 3), targets)
        ),
    }
    expect_close(yours, torch.tensor(0.0), "the loss of perfect logits", suspects=suspects)


def test_bad_input(answer):
    """Targets of another shape raise ValueError."""
    expect_raises(
        ValueError,
        lambda: answer.sequence_loss(torch.zeros(2, 3, 4), torch.zeros(2, 4, dtype=torch.long)),
        "sequence_loss(logits (2, 3, 4), targets (2, 4))",
    )
