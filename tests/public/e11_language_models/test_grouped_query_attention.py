"""The worked example of grouped_query_attention."""

import torch

from grader.checks.contract import Contract, given

V = torch.tensor([[1.0, 3.0, 5.0], [5.0, 9.0, 1.0]]).view(1, 2, 3, 1)
Q, K = torch.ones(1, 4, 3, 1), torch.ones(1, 2, 3, 1)
MEANS = torch.tensor([[1.0, 2.0, 3.0]] * 2 + [[5.0, 7.0, 5.0]] * 2).view(1, 4, 3, 1)

contract = Contract(
    "grouped_attention(q, k, v)",
    example=[(given(Q, K, V), MEANS), (given(Q[:, :, 1:], K, V), MEANS[:, :, 1:])],
    dims="batch heads time dim",
)
