import torch
from jaxtyping import Float
from torch import Tensor


def grad_of_a_vector(
    x: Float[Tensor, "n"], weights: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    x.requires_grad_()
    y = x**2  # (n,)
    y.backward(gradient=weights)
    y = x**2
    (second,) = torch.autograd.grad(y, x, weights)
    return x.grad, second
