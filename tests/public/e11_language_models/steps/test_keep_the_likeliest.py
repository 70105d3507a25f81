"""The suite of keep_the_likeliest."""

import torch

from grader.checks.contract import Contract, given


def kept(logits, k, other=float("-inf")):
    ranks = logits.argsort(1, descending=True).argsort(1)
    return torch.where(ranks < k, logits, torch.tensor(other, dtype=logits.dtype))


contract = Contract(
    "keep_the_likeliest(logits, k)",
    reference=kept,
    example=(
        given(torch.tensor([[1.0, 4.0, 2.0, 3.0]]), 2),
        torch.tensor([[float("-inf"), 4.0, float("-inf"), 3.0]]),
    ),
    inputs=lambda gen: {
        f"{k} of {vocab}": given(torch.randn(batch, vocab, generator=gen), k)
        for batch, vocab, k in [(3, 6, 2), (5, 5, 3), (2, 9, 4)]
    },
    dims="row token",
    suspects={
        "the smallest of the k is gone as well: only what is below it goes": lambda logits, k: kept(
            logits, k - 1
        ),
        "0 is no small logit: put -inf there": lambda logits, k: kept(logits, k, 0.0),
        "the k largest of the whole table: each row has its own": lambda logits, k: kept(
            logits.reshape(1, -1), k
        ).reshape(logits.shape),
        "the k largest of each column: a row is a text": lambda logits, k: kept(logits.T, k).T,
        "these are the k largest alone: the others stay in their places, as -inf": (
            lambda logits, k: logits.topk(k, dim=1).values
        ),
        "the likeliest are gone, and the others stay": lambda logits, k: torch.where(
            kept(logits, k).isinf(), logits, float("-inf")
        ),
    },
)
