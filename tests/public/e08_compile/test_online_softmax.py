"""The worked example of online_softmax."""

import torch

from grader.checks.contract import Contract, given

Q, K = torch.ones(1, 4), torch.tensor([[0.0], [0.5], [1.0], [0.0], [0.5]]).expand(5, 4)
V = torch.tensor([[1.0], [2.0], [4.0], [3.0], [5.0]])

contract = Contract(
    "attention(q, k, v, tile)",
    example=[
        (given(Q, K, V, tile=2), [[3.5468465]]),
        (given(Q, K, V, tile=2, keep=torch.tensor([True, True, False, True, True])), [[3.0965879]]),
    ],
    dims="queries width",
)
