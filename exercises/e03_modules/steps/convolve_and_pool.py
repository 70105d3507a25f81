"""Layers for images: convolve and pool.

Make three layers in an nn.Sequential: a 3 × 3 convolution from 3 channels to `filters`, a ReLU, a 2 × 2 max
pooling. Return it, and the shape of what comes out for `images`.

    model, shape = convolve_and_pool(torch.zeros(10, 3, 32, 32), 8)
    shape     # torch.Size([10, 8, 16, 16])

New here: `nn.Conv2d(3, 8, kernel_size=3, padding=1)` slides 8 filters of 3 × 3 over images of 3 channels;
height and width stay, thanks to the padding. `nn.MaxPool2d(2)` keeps the largest of each 2 × 2 numbers.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def convolve_and_pool(
    images: Float[Tensor, "batch 3 height width"], filters: int
) -> tuple[nn.Sequential, torch.Size]:
    raise NotImplementedError
