"""The gradient at a tensor in the middle: `retain_grad`.

From x come `h = x * 2`, and from h the loss, the sum of `h ** 2`. Return the gradient of the loss for h.

    gradient_in_the_middle(torch.tensor([1.0, -3.0]))
    # tensor([  4., -12.]): the slope of h² is 2h

backward fills `.grad` of leaves alone: of tensors such as x that no recorded operation has made. h was made by
one, so `h.grad` stays None.

New here: `h.retain_grad()`, called before backward, makes h keep its gradient in `h.grad` as well.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def gradient_in_the_middle(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    raise NotImplementedError
