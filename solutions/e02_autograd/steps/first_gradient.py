from jaxtyping import Float
from torch import Tensor


def first_gradient(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    x.requires_grad_()
    (x**2).sum().backward()
    return x.grad  # (*shape)
