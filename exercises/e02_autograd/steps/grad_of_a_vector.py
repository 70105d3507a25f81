"""Backward from a vector: `gradient=`, and `torch.autograd.grad`.

`y = x ** 2` is a vector. Backward from it needs a weight for each entry: the gradient is then that of
`(weights * y).sum()`. Return it twice: once found by backward, once by `torch.autograd.grad`. x comes without
requires_grad.

    x, weights = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    grad_of_a_vector(x, weights)
    # (tensor([ 2., 40.]), tensor([ 2., 40.]))

New here: `y.backward(gradient=weights)`. And `torch.autograd.grad(y, x, weights)` gives a tuple, one gradient
for each tensor asked about, and leaves `.grad` alone. backward has thrown the graph away, so compute y anew.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def grad_of_a_vector(
    x: Float[Tensor, "n"], weights: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    raise NotImplementedError
