from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ResidualNet(nn.Module):
    def __init__(self, features: int, depth: int, heads: Mapping[str, int]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(features, features) for _ in range(depth))
        self.scales = nn.ParameterList(nn.Parameter(torch.tensor(0.5)) for _ in range(depth))
        self.heads = nn.ModuleDict({name: nn.Linear(features, size) for name, size in heads.items()})

    def forward(self, x: Float[Tensor, "*batch features"]) -> dict[str, Float[Tensor, "*batch size"]]:
        for layer, scale in zip(self.layers, self.scales, strict=False):
            x = x + scale * torch.relu(layer(x))  # (*batch, features)
        return {name: head(x) for name, head in self.heads.items()}
