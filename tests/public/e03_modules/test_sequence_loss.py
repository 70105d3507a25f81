"""The worked examples of sequence_loss, and a model that is right."""

import math

import torch
from torch.nn import functional as F

from grader.checks import expect_close
from grader.checks.contract import Contract

LOGITS = torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0]]])

contract = Contract(
    "sequence_loss(logits, targets)",
    example=[
        ((LOGITS, torch.tensor([[0, 1]])), torch.tensor(0.49041463)),
        ((LOGITS, torch.tensor([[0, -100]])), torch.tensor(-math.log(0.75))),
    ],
    suspects={
        "a softmax comes before: cross_entropy takes logits": lambda logits, targets: F.cross_entropy(
            logits.softmax(-1)[0], targets[0]
        ),
    },
)


def test_perfect_prediction(answer):
    """A model that predicts every token with certainty has a loss of 0."""
    targets = torch.tensor([[0, 2, 1], [2, 2, 0]])
    perfect = torch.full((2, 3, 4), -50.0).scatter(2, targets.unsqueeze(2), 50.0)
    suspects = {
        "softmax runs over time: the classes are the last dimension": lambda: F.nll_loss(
            perfect.log_softmax(1).flatten(0, 1), targets.flatten()
        ),
        "dimensions are reshaped, which moves logits to other tokens: swap them, or flatten both": lambda: (
            F.cross_entropy(perfect.reshape(2, 4, 3), targets)
        ),
    }
    yours = answer.sequence_loss(perfect, targets)
    expect_close(yours, torch.tensor(0.0), "the loss of perfect logits", suspects=suspects)
