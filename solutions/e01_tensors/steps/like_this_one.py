import torch
from jaxtyping import Shaped
from torch import Tensor


def like_this_one(
    x: Shaped[Tensor, "*shape"], value: int
) -> tuple[Shaped[Tensor, "*shape"], Shaped[Tensor, "*shape"], Shaped[Tensor, "*shape"]]:
    return torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, value)
