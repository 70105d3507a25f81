"""The shape after each layer.

A network raises an error, and you want to know what shape its data has on the way. Run `x` through `model`, layer by
layer, and list the shape of each result.

    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    shapes_layer_by_layer(model, torch.zeros(5, 4))
    # [(5, 3), (5, 3), (5, 2)]

- Each layer gets what the layer before it returned; the first one gets x.

New here: `for layer in model:` goes through the layers of an `nn.Sequential`; `tuple(x.shape)` is a shape as a
plain tuple.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def shapes_layer_by_layer(model: nn.Sequential, x: Float[Tensor, "rows features"]) -> list[tuple[int, ...]]:
    raise NotImplementedError
