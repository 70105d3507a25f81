import torch
from jaxtyping import Float
from torch import Tensor


def to_shares(weights: Float[Tensor, "*rows experts"]) -> Float[Tensor, "*rows experts"]:
    wide = weights if weights.dtype == torch.float64 else weights.float()
    total = wide.sum(-1, keepdim=True)  # (*rows, 1)
    empty = total == 0
    shares = wide / total.masked_fill(empty, 1.0)  # (*rows, experts), only rows of zeros are guarded
    return shares.masked_fill(empty, 0.0).to(weights.dtype)  # which cuts their gradient to zero as well
