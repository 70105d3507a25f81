from jaxtyping import Float
from torch import Tensor


def gradient_in_the_middle(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    x.requires_grad_()
    h = x * 2  # (n,)
    h.retain_grad()
    (h**2).sum().backward()
    return h.grad  # (n,)
