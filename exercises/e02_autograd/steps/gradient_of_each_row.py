"""A gradient for each row: `torch.func.grad` and `vmap`.

`f` takes a row of numbers and returns one number. Return its gradient at each row of x, below each other.

    def f(row):
        return (row**3).sum()

    x = torch.tensor([[1.0, 2.0], [0.0, 3.0]])
    gradients(f, x)      # tensor([[ 3., 12.], [ 0., 27.]])

New here: `torch.func.grad(f)` is a function again: it gives the gradient of f, and needs no `requires_grad`.
`torch.func.vmap(g)` is a function that does g with each row, without a loop, and stacks what comes back.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def gradients(
    f: Callable[[Tensor], Tensor], x: Float[Tensor, "rows columns"]
) -> Float[Tensor, "rows columns"]:
    raise NotImplementedError
