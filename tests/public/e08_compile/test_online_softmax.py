"""The worked example of online_softmax."""

import torch

from grader.checks.contract import Contract, given

Q, K = torch.tensor([[1.0]]), torch.tensor([[0.0], [1.0], [2.0]])
V = torch.tensor([[1.0], [2.0], [4.0]])

contract = Contract(
    "attention(q, k, v, tile)",
    example=[
        (given(Q, K, V, tile=2), [[3.2402474]]),
        (given(Q, K, V, tile=2, keep=torch.tensor([True, True, False])), [[1.7310586]]),
    ],
    dims="queries width",
)
