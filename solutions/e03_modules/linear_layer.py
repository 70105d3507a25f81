import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Linear(nn.Module):
    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        weight = torch.empty(out_features, in_features, device=device, dtype=dtype).uniform_(-bound, bound)
        self.weight = nn.Parameter(weight)  # (out_features, in_features)
        self.bias = None
        if bias:
            self.bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype))
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch out_features"]:
        y = x @ self.weight.T  # (*batch, out_features)
        return y if self.bias is None else y + self.bias
