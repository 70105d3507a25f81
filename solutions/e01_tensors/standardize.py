import torch
from jaxtyping import Float
from torch import Tensor


def standardize(
    x: Float[Tensor, "*shape"], dim: int | tuple[int, ...], *, correction: int = 0, eps: float = 1e-5
) -> Float[Tensor, "*shape"]:
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    centred = wide - wide.mean(dim, keepdim=True)  # (*shape)
    variance = wide.var(dim, correction=correction, keepdim=True)  # size 1 along dim
    return (centred / (variance + eps).sqrt()).to(x.dtype)
