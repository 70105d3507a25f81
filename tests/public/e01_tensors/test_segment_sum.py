"""The worked examples of segment_sum."""

from math import inf

import torch

from grader.checks.contract import Contract, given

X = torch.tensor([[1.0, 2.0], [3.0, -4.0], [5.0, -6.0]])
IDS = torch.tensor([2, 0, 2])

sums = Contract(
    "segment_sum(x, ids, segments)",
    example=(given(X, IDS, 4), [[3.0, -4.0], [0.0, 0.0], [6.0, -4.0], [0.0, 0.0]]),
    dims="segment feature",
)

counts = Contract("segment_count(ids, segments)", example=(given(IDS, 4), torch.tensor([1, 0, 2, 0])))

maxima = Contract(
    "segment_max(x, ids, segments)",
    example=(given(X, IDS, 4), [[3.0, -4.0], [-inf, -inf], [5.0, 2.0], [-inf, -inf]]),
    dims="segment feature",
)
