import torch
from jaxtyping import Float
from torch import Tensor


def scores(
    query: Float[Tensor, "*batch time dim"], key: Float[Tensor, "*batch source dim"]
) -> Float[Tensor, "*batch time source"]:
    return query @ key.mT  # (*batch, time, dim) @ (*batch, dim, source) -> (*batch, time, source)


def outer(
    left: Float[Tensor, "*batch rows"], right: Float[Tensor, "*batch columns"]
) -> Float[Tensor, "*batch rows columns"]:
    return left.unsqueeze(-1) * right.unsqueeze(-2)  # (*batch, rows, 1) * (*batch, 1, columns)


def bilinear(
    left: Float[Tensor, "*batch m"], weight: Float[Tensor, "out m n"], right: Float[Tensor, "*batch n"]
) -> Float[Tensor, "*batch out"]:
    return torch.einsum("...i, oij, ...j -> ...o", left, weight, right)  # (*batch, out)
