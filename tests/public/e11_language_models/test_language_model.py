"""The worked example of language_model."""

import torch

from grader.checks.contract import Contract, layer

SIZES = {
    "qkv": (6, 2),
    "out": (2, 2),
    "mlp.gate_proj": (1, 2),
    "mlp.up_proj": (1, 2),
    "mlp.down_proj": (2, 1),
}
STATE = {
    "embed.weight": torch.tensor([[4.0, 0.0], [0.0, 2.0], [1.0, 1.0]]),
    **{f"{name}.weight": torch.ones(2) for name in ("norm", "blocks.0.norm1", "blocks.0.norm2")},
    **{f"blocks.0.{name}.weight": torch.zeros(size) for name, size in SIZES.items()},
    "blocks.0.qkv.weight": torch.cat([torch.zeros(4, 2), torch.eye(2)]),
    "blocks.0.out.weight": torch.eye(2),
}

contract = Contract(
    "LanguageModel(vocab, dim, heads, layers, hidden)(ids)",
    example=(
        layer(3, 2, 1, 1, 1, state=STATE)(torch.tensor([[0, 1]])),
        [[[5.6568523, 0.0, 1.4142131], [1.4296253, 2.7366078, 1.7257102]]],
    ),
    dims="batch time vocab",
)
