import torch
from jaxtyping import Shaped
from torch import Tensor


def shape_and_count(x: Shaped[Tensor, "*shape"]) -> tuple[torch.Size, int, int]:
    return x.shape, x.ndim, x.numel()
