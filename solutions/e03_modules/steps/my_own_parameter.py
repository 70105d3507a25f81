import torch
from jaxtyping import Float
from torch import Tensor, nn


class Scale(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.ones(features))

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows features"]:
        return x * self.factor
