import torch
from jaxtyping import Float
from torch import Tensor


def twice_through_one_graph(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    x.requires_grad_()
    y = torch.exp(x)  # (n,)
    y.sum().backward(retain_graph=True)
    first = x.grad  # (n,)
    x.grad = None
    (y**2).sum().backward()
    return first, x.grad
