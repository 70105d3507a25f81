"""The worked examples of softmax and logsumexp."""

import math

import torch

from grader.checks.contract import Contract, given

LOGITS = torch.tensor([[0.0, 0.0, math.log(2.0)], [1e4, 1e4, -math.inf]])

softmax = Contract(
    "softmax(logits, dim)",
    example=(given(LOGITS, dim=1), [[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]),
    dims="batch class",
)
logsumexp = Contract(
    "logsumexp(logits, dim)",
    example=[
        (given(LOGITS[:1], dim=1), [math.log(4.0)]),
        (given(LOGITS, dim=1), [math.log(4.0), 1e4 + math.log(2.0)]),
    ],
    suspects={
        "the peak is added before the logarithm, not after it": lambda x, dim: (
            (x - x.amax(dim, True)).exp().sum(dim) + x.amax(dim)
        ).log(),
        "the peak is not added again after the logarithm": lambda x, dim: (
            (x - x.amax(dim, True)).exp().sum(dim).log()
        ),
    },
    dims="batch",
)
