import torch
from jaxtyping import Float
from torch import Tensor


def is_it_finite(x: Float[Tensor, "*shape"]) -> tuple[int, int]:
    return torch.isnan(x).sum().item(), torch.isinf(x).sum().item()
