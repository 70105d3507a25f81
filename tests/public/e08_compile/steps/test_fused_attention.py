"""The suite of fused_attention."""

import math

import torch

from grader.checks.contract import Contract, given

SIZES = [(1, 1, 4, 2), (2, 3, 5, 4), (1, 2, 7, 3)]


def by_hand(q, k, v, causal=True, scale=True, hidden=lambda all_of_them: all_of_them.triu(1)):
    scores = q @ k.mT / (math.sqrt(q.shape[-1]) if scale else 1.0)
    later = hidden(torch.ones(scores.shape[-2:], dtype=torch.bool))
    return (scores.masked_fill(later, -math.inf) if causal else scores).softmax(-1) @ v


contract = Contract(
    "fused_attention(q, k, v)",
    reference=by_hand,
    example=(
        given(torch.zeros(1, 1, 3, 2), torch.zeros(1, 1, 3, 2), torch.tensor([[[[1.0], [3.0], [5.0]]]])),
        [[[[1.0], [2.0], [3.0]]]],
    ),
    inputs=lambda gen: [tuple(torch.randn(3, *size, generator=gen)) for size in SIZES],
    dims="batch heads time values",
    suspects={
        "every position sees all others, later ones too: is_causal=True is missing": (
            lambda q, k, v: by_hand(q, k, v, causal=False)
        ),
        "every position sees later ones, and none before it: the mask is the wrong way round": (
            lambda q, k, v: by_hand(q, k, v, hidden=lambda all_of_them: all_of_them.tril(-1))
        ),
        "the scores are not divided by the root of dim": lambda q, k, v: by_hand(q, k, v, scale=False),
        "keys and values are exchanged": lambda q, k, v: by_hand(q, v, k),
    },
)
