from jaxtyping import Float
from torch import Tensor


def plus_one(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return x + 1


def add_one(x: Float[Tensor, "*shape"]) -> None:
    x.add_(1)
