"""The worked example of latent_attention."""

import torch

from grader.checks.contract import Contract, layer

EYES = ("down", "rope_key", "up_key", "up_value", "out")
STATE = {f"{part}.weight": torch.eye(2) for part in EYES} | {"query.weight": torch.zeros(4, 2)}
BUILT = layer(2, heads=1, latent=2, head_dim=2, rope_dim=2, state=STATE)
X = torch.tensor([[[2.0, 0.0], [4.0, 2.0], [0.0, 4.0]]])
CACHE = torch.tensor(
    [[[2.0, 0.0, 2.0, 0.0], [4.0, 2.0, 0.47826725, 4.4464886], [0.0, 4.0, -3.6371897, -1.6645873]]]
)

contract = Contract(
    "LatentAttention(dim, heads, latent, head_dim, rope_dim)(x, cache)",
    example=[
        (BUILT(X[:, :1]), (torch.tensor([[[2.0, 0.0]]]), CACHE[:, :1])),
        (BUILT(X[:, 1:], CACHE[:, :1]), (torch.tensor([[[3.0, 1.0], [2.0, 2.0]]]), CACHE)),
    ],
    dims=("batch time dim", "batch keys cached"),
)
