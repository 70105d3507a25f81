"""Mixed precision: a forward pass under autocast.

Matrix products in bfloat16 are several times as fast on a GPU. Run the model on x with autocast in bfloat16,
and return its output in float32. The weights of the model stay float32.

    model = nn.Linear(1, 1)      # say that its weight is 1 and its bias 0
    forward_under_autocast(model, torch.tensor([[1.001]]))
    # tensor([[1.]]): bfloat16 has no 1.001

New here: in the block under `with torch.autocast(x.device.type, dtype=torch.bfloat16):` Linear layers compute
in bfloat16 and give it. After the block, `y.float()` is y in float32.
"""

import torch
from jaxtyping import Float32
from torch import Tensor, nn


def forward_under_autocast(
    model: nn.Module, x: Float32[Tensor, "rows features"]
) -> Float32[Tensor, "rows outputs"]:
    raise NotImplementedError
