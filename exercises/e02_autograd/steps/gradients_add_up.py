"""Gradients add up: `w.grad = None`.

The code below wants two gradients for w: that of the sum of `w ** 2`, and that of the sum of `w ** 3`. But
`backward` adds to what stands in `w.grad` already. Mend it.

    gradients_add_up(torch.tensor([1.0, 2.0]))
    # (tensor([2., 4.]), tensor([ 3., 12.]))
    # as it is: tensor([ 5., 16.]), twice

New here: `w.grad = None` makes w forget its gradient. `w.grad.zero_()` writes zeros into the tensor instead.
But `first` and `w.grad` are the same tensor, so `zero_()` would make `first` zero too.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def gradients_add_up(w: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    w.requires_grad_()
    (w**2).sum().backward()
    first = w.grad
    (w**3).sum().backward()
    second = w.grad
    return first, second
