"""Put the channels first: `permute`.

An image file holds (height, width, channels): the red, green and blue of each pixel side by side. PyTorch
wants (channels, height, width): all red, all green, all blue. Put the dims into that order.

    image = torch.tensor([[[1, 2, 3], [4, 5, 6]]])
    # 1 high, 2 wide, 3 channels
    channels_first(image)
    # tensor([[[1, 4]], [[2, 5]], [[3, 6]]])

New here: `x.permute(1, 0, 2)` has dim 1 of x first, then dim 0, then dim 2. `x.transpose(0, 1)` swaps two
dims, `x.T` those of a table. `view` keeps the numbers in their order, so it cannot swap dims.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def channels_first(image: Int[Tensor, "height width channels"]) -> Int[Tensor, "channels height width"]:
    raise NotImplementedError
