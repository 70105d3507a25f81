from jaxtyping import Float
from torch import Tensor, nn


def a_hook_that_listens(
    model: nn.Module, layer: nn.Module, x: Float[Tensor, "rows features"]
) -> Float[Tensor, "rows outputs"]:
    heard = []
    handle = layer.register_forward_hook(lambda module, inputs, output: heard.append(output))
    model(x)
    handle.remove()
    return heard[0]
