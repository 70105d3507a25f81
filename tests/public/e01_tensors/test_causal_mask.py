"""The contract of causal_mask."""

import math

import torch

from grader.checks.contract import Contract

mask = Contract(
    "causal_mask(queries, keys)",
    example=[
        ((3, 3), torch.ones(3, 3, dtype=torch.bool).tril()),
        ((2, 5), torch.tensor([[True, True, True, True, False], [True] * 5])),
    ],
    dims="query key",
)

scores = Contract(
    "mask_scores(scores)",
    example=([[1.0, 2.0], [3.0, 4.0]], [[1.0, -math.inf], [3.0, 4.0]]),
    dims="query key",
)
