"""The worked example of swiglu."""

import torch

from grader.checks.contract import Contract, layer

PARTS = ("gate_proj", "up_proj", "down_proj")

contract = Contract(
    "SwiGLU(dim, hidden)(x)",
    example=(
        layer(2, 2, state={f"{part}.weight": torch.eye(2) for part in PARTS})(torch.tensor([[1.0, 2.0]])),
        [[0.7310586, 3.5231884]],
    ),
    dims="row feature",
)
