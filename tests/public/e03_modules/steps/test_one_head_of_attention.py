"""The suite of one_head_of_attention."""

import torch

from grader.checks.contract import Contract, given


def attention(q, k, v, dim=1, scale=lambda q: q.shape[1] ** 0.5):
    return (q @ k.T / scale(q)).softmax(dim) @ v


contract = Contract(
    "one_head_of_attention(q, k, v)",
    reference=attention,
    example=(
        ([[0.0], [9.0]], [[1.0], [-1.0]], [[2.0], [4.0]]),
        torch.tensor([[3.0], [2.0]]),
    ),
    inputs=lambda gen: {
        f"{time} words of {d} numbers": given(*(torch.randn(time, d, generator=gen) for _ in range(3)))
        for time, d in [(3, 4), (4, 4), (6, 2)]
    },
    dims="word number",
    suspects={
        "the division by √d is missing": lambda q, k, v: attention(q, k, v, scale=lambda q: 1),
        "the scores are divided by d, not by √d": lambda q, k, v: attention(
            q, k, v, scale=lambda q: q.shape[1]
        ),
        "d is the number of words here: it is the length of a row": lambda q, k, v: attention(
            q, k, v, scale=lambda q: len(q) ** 0.5
        ),
        "the softmax goes down the columns: it is wanted along each row": lambda q, k, v: attention(
            q, k, v, 0
        ),
        "the softmax is missing": lambda q, k, v: q @ k.T / q.shape[1] ** 0.5 @ v,
        "k is not transposed": lambda q, k, v: (q @ k / q.shape[1] ** 0.5).softmax(1) @ v,
        "q and k change places": lambda q, k, v: attention(k, q, v),
    },
)
