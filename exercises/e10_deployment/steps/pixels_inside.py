"""Preprocessing that nobody can forget: `PixelsInside(network)`.

A network was trained on pixels from 0 to 1, and cameras give integers from 0 to 255. Write a module around
the network that takes the camera's pixels (uint8), a row for each image, scales them, and returns what the network
makes of them.

    # the network returns the sum of the pixels of each image
    model = PixelsInside(network)
    model(torch.tensor([[255, 255], [0, 102]], dtype=torch.uint8))
    # tensor([[2.0], [0.4]])

New here: `pixels / 255` gives float32 and leaves pixels as they are; `pixels //= 255` and `pixels /= 255`
do not work, because uint8 holds no fractions.
"""

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn


class PixelsInside(nn.Module):
    def __init__(self, network: nn.Module) -> None:
        raise NotImplementedError

    def forward(self, pixels: UInt8[Tensor, "batch pixels"]) -> Float[Tensor, "batch outputs"]:
        raise NotImplementedError
