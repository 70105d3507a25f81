"""The worked example of linear_attention, at once and token by token."""

import torch

from grader.checks.contract import Contract, given

Q, K, V = torch.tensor(
    [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [6.0, 6.0]]]
).unbind()
V = V[:, :1]
Y, S, Z = torch.tensor([[1.0], [3.5]]), torch.tensor([[8.0], [19.0]]), torch.tensor([3.0, 4.0])

whole = Contract(
    "linear_attention(q, k, v, chunk)",
    example=[(given(Q, K, V), (Y, S, Z)), (given(Q, K, V, 1), (Y, S, Z))],
    dims=("time value_dim", "dim value_dim", "dim"),
)
step = Contract(
    "step(q, k, v, S, z)",
    example=(
        given(Q[1], K[1], V[1], torch.tensor([[2.0], [1.0]]), torch.tensor([2.0, 1.0])),
        (Y[1], S, Z),
    ),
    dims=("value_dim", "dim value_dim", "dim"),
)
