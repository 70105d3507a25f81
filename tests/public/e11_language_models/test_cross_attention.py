"""The worked example of cross_attention."""

import torch

from grader.checks.contract import Contract, layer

STATE = {f"{part}.weight": torch.eye(2) for part in ("query", "key", "value", "out")}
X, MEMORY = 1.2465 * torch.eye(2)[None], torch.tensor([[[1.2465, 0.0], [0.0, 2.493], [4.0, 5.0]]])
PADDING = torch.tensor([[False, False, True]])

contract = Contract(
    "CrossAttention(dim, memory_dim, heads)(x, memory, padding)",
    example=(
        layer(2, memory_dim=2, heads=1, state=STATE)(X, MEMORY, PADDING),
        [[[0.9348899, 0.6232203], [0.1246357, 2.2437284]]],
    ),
    dims="batch time dim",
)
