import torch
from jaxtyping import Shaped
from torch import Tensor


def swapped(x: Shaped[Tensor, "rows columns"]) -> Shaped[Tensor, "columns rows"]:
    return torch.einsum("ij->ji", x)


def product(
    a: Shaped[Tensor, "rows inner"], b: Shaped[Tensor, "inner columns"]
) -> Shaped[Tensor, "rows columns"]:
    return torch.einsum("ij,jk->ik", a, b)


def outer(u: Shaped[Tensor, " rows"], v: Shaped[Tensor, " columns"]) -> Shaped[Tensor, "rows columns"]:
    return torch.einsum("i,j->ij", u, v)
