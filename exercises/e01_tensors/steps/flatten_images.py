"""Make one row of each image: `flatten`.

A batch of images has the shape (batch, channels, height, width), and many models want one row of numbers for each
image. Return a table of shape (batch, channels · height · width).

    images = torch.arange(8).view(2, 1, 2, 2)
    # two images of 1 channel, 2 high and 2 wide
    flatten_images(images)
    # tensor([[0, 1, 2, 3],
    #         [4, 5, 6, 7]])

New here: `x.flatten(d)` makes one dim of dim d and all behind it, and leaves those before it. Dims count from 0;
`x.flatten()` makes one dim of all.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor


def flatten_images(images: Shaped[Tensor, "batch channels height width"]) -> Shaped[Tensor, "batch numbers"]:
    raise NotImplementedError
