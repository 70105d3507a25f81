import torch
from jaxtyping import Float
from torch import Tensor, nn


class Dropout(nn.Module):
    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p is a probability, from 0 to 1, but it is {p}")
        self.p = p

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        if not self.training:
            return x
        dropped = torch.rand(x.shape, device=x.device) < self.p  # (*shape)
        scale = 0.0 if self.p == 1 else 1 / (1 - self.p)
        return (x * scale).masked_fill(dropped, 0.0)
