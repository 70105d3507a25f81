import torch
from jaxtyping import Float
from torch import Tensor, nn


class RMSNorm(nn.Module):
    def __init__(self, features: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x: Float[Tensor, "*shape features"]) -> Float[Tensor, "*shape features"]:
        if x.shape[-1:] != self.weight.shape:
            raise ValueError(f"x must be (..., {len(self.weight)}), not {tuple(x.shape)}")
        exact = x if x.dtype == torch.float64 else x.float()
        scale = (exact.square().mean(-1, keepdim=True) + self.eps).rsqrt()  # (*shape, 1)
        return (exact * scale * self.weight).to(x.dtype)  # (*shape, features)
