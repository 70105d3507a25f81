"""The suite of which_two_experts."""

import math

import torch

from grader.checks.contract import Contract

SCORES = torch.tensor([[1.0, 3.0, 3.5], [2.0, 0.0, 1.0]])


def routed(scores, dim=1):
    found = scores.sort(dim=1, descending=True)
    two = found.values[:, :2].exp()
    return two / two.sum(dim, keepdim=True), found.indices[:, :2]


def of_two(apart):
    """The shares of two whose scores are so far apart."""
    return [1 / (1 + math.exp(-apart)), 1 / (1 + math.exp(apart))]


contract = Contract(
    "which_two_experts(scores)",
    reference=routed,
    example=(SCORES, (torch.tensor([of_two(0.5), of_two(1.0)]), torch.tensor([[2, 1], [0, 2]]))),
    inputs=lambda gen: {
        f"{tokens} tokens, {experts} experts": torch.randn(tokens, experts, generator=gen)
        for tokens, experts in [(3, 6), (4, 4), (5, 8)]
    },
    dims=("token place", "token place"),
    suspects={
        "the shares are those among all experts: take the softmax of the two": lambda scores: (
            scores.softmax(1).topk(2, dim=1).values,
            routed(scores)[1],
        ),
        "the softmax goes over the tokens: each token has its own": lambda scores: routed(scores, 0),
        "these are scores: a softmax makes shares of the two": lambda scores: tuple(scores.topk(2, dim=1)),
        "the numbers come first: shares first": lambda scores: routed(scores)[::-1],
        "these are the two worst": lambda scores: (routed(-scores)[0].flip(1), routed(-scores)[1]),
    },
)
