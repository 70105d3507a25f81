from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def slope_of_the_slope(f: Callable[[Tensor], Tensor], t: float) -> Float[Tensor, ""]:
    x = torch.tensor(t, requires_grad=True)
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(slope, x)[0]
