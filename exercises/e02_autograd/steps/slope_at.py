"""The slope of any function at one number: `torch.tensor(…, requires_grad=True)`.

f takes a tensor of one number, and gives such a tensor. How steep is it at t, a Python float?

    def f(x):
        return x * x + 1

    slope_at(f, 3.0)           # tensor(6.)

New here: `torch.tensor(3.0, requires_grad=True)` makes a tensor from whose uses PyTorch records from the start.
The rest is as in the step before: `backward()`, then `.grad`.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def slope_at(f: Callable[[Tensor], Tensor], t: float) -> Float[Tensor, ""]:
    raise NotImplementedError
