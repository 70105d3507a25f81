from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def gradients(
    f: Callable[[Tensor], Tensor], x: Float[Tensor, "rows columns"]
) -> Float[Tensor, "rows columns"]:
    return torch.func.vmap(torch.func.grad(f))(x)  # (rows, columns)
