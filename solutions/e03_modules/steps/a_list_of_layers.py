from jaxtyping import Float
from torch import Tensor, nn


class Tower(nn.Module):
    def __init__(self, features: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(depth)])

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows features"]:
        for layer in self.layers:
            x = layer(x).relu()
        return x
