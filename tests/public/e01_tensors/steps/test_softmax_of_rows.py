"""The suite of softmax_of_rows."""

import math

import torch

from grader.checks.contract import Contract

SIZES = [(2, 4), (3, 3), (2, 3, 4)]
EXAMPLE = torch.tensor([[1.0, 1.0], [math.exp(1.0), math.exp(3.0)]])
SHARES = EXAMPLE / EXAMPLE.sum(1, keepdim=True)


def by_hand(scores):
    shares = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return shares, shares.log()


def both(shares):
    return lambda scores: (shares(scores), shares(scores).log())


contract = Contract(
    "softmax_of_rows(scores)",
    reference=by_hand,
    example=([[0.0, 0.0], [1.0, 3.0]], (SHARES, SHARES.log())),
    inputs=lambda gen: [2 * torch.randn(size, generator=gen) for size in SIZES],
    suspects={
        "the scores are divided by their sum: softmax takes exp of them first": both(
            lambda scores: scores / scores.sum(-1, keepdim=True)
        ),
        "each column has the sum 1: dim=-1 goes along the rows": both(lambda scores: scores.softmax(0)),
        "dim=1 is the last dim of a matrix only: dim=-1 is always the last": both(
            lambda scores: scores.softmax(1)
        ),
        "the logarithms of the scores, not of the probabilities": lambda scores: (
            scores.softmax(-1),
            scores.log(),
        ),
    },
)
