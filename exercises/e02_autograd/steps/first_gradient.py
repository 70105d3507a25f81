"""A first gradient: `requires_grad_`, `backward` and `grad`.

If one entry of x grows a little, how fast does the sum of the squares of x grow? The answers for all entries
are the gradient. Compute the sum, and let PyTorch find the gradient.

    first_gradient(torch.tensor([1.0, -3.0]))
    # tensor([ 2., -6.]), as x² has the slope 2x

New here: after `x.requires_grad_()` PyTorch records what is computed from x. For a y of one number,
`y.backward()` goes back through the record, and puts the gradient into `x.grad`.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def first_gradient(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    raise NotImplementedError
