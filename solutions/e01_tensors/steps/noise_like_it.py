import torch
from jaxtyping import Float
from torch import Tensor


def noisy(x: Float[Tensor, "*shape"], size: float) -> Float[Tensor, "*shape"]:
    return x + size * torch.randn_like(x)
