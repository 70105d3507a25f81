import torch
from jaxtyping import Float32
from torch import Tensor, nn


def forward_under_autocast(
    model: nn.Module, x: Float32[Tensor, "rows features"]
) -> Float32[Tensor, "rows outputs"]:
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        y = model(x)
    return y.float()
