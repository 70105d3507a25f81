from jaxtyping import Float
from torch import Tensor, nn


def flops_of_a_layer(layer: nn.Linear, x: Float[Tensor, "rows in_features"]) -> int:
    return 2 * len(x) * layer.in_features * layer.out_features
