from jaxtyping import Float
from torch import Tensor, nn


def shapes_layer_by_layer(model: nn.Sequential, x: Float[Tensor, "rows features"]) -> list[tuple[int, ...]]:
    shapes = []
    for layer in model:
        x = layer(x)  # (rows, features of this layer)
        shapes.append(tuple(x.shape))
    return shapes
