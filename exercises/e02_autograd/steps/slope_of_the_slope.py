"""The slope of a slope: `create_graph=True`.

How fast does the slope of f change at t, a Python float? Return its second derivative.

    def f(x):
        return x**3      # its slope is 3 * x**2, whose slope is 6 * x

    slope_of_the_slope(f, 3.0)      # tensor(18.)

New here: with `create_graph=True`, `(slope,) = torch.autograd.grad(y, x, create_graph=True)` records how the slope is
computed. So the slope has a gradient itself. Without it, it is a bare number.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def slope_of_the_slope(f: Callable[[Tensor], Tensor], t: float) -> Float[Tensor, ""]:
    raise NotImplementedError
