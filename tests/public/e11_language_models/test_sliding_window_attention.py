"""The worked example of sliding_window_attention."""

import torch

from grader.checks.contract import Contract, given

V = torch.tensor([1.0, 3.0, 5.0, 9.0, 8.0]).view(1, 1, 5, 1)
K = torch.ones(1, 1, 5, 1)

contract = Contract(
    "window_attention(q, k, v, window)",
    example=[
        (given(K, K, V, window=2), torch.tensor([1.0, 2.0, 4.0, 7.0, 8.5]).view(1, 1, 5, 1)),
        (given(K, K, V, window=3), torch.tensor([1.0, 2.0, 3.0, 17 / 3, 22 / 3]).view(1, 1, 5, 1)),
    ],
    dims="batch heads time dim",
)
