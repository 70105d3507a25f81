from jaxtyping import Float
from torch import Tensor


def gradients_add_up(w: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    w.requires_grad_()
    (w**2).sum().backward()
    first = w.grad  # (n,)
    w.grad = None
    (w**3).sum().backward()
    second = w.grad  # (n,)
    return first, second
