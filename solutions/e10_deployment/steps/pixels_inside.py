from jaxtyping import Float, UInt8
from torch import Tensor, nn


class PixelsInside(nn.Module):
    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: UInt8[Tensor, "batch pixels"]) -> Float[Tensor, "batch outputs"]:
        return self.network(pixels / 255)
