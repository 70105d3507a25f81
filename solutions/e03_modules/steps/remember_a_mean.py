from jaxtyping import Float
from torch import Tensor, nn


class Center(nn.Module):
    def __init__(self, mean: Float[Tensor, "features"]) -> None:
        super().__init__()
        self.register_buffer("mean", mean)

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows features"]:
        return x - self.mean
