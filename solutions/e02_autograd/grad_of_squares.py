from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def grad_of_squares(
    residuals: Callable[[Tensor], Tensor], params: Float[Tensor, "*shape"]
) -> tuple[Float[Tensor, ""], Float[Tensor, "*shape"]]:
    leaf = params.detach().clone().requires_grad_()  # (*shape), the start of a graph of its own
    with torch.enable_grad():
        value = residuals(leaf).square().sum()  # ()
    value.backward(inputs=[leaf])  # fills leaf.grad, and no other
    return value.detach(), leaf.grad
