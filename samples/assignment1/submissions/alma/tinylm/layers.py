"""Linear maps, embeddings, RMSNorm and softmax."""

import torch
from torch import Tensor


def linear(x: Tensor, weight: Tensor) -> Tensor:
    return torch.einsum("...i,oi->...o", x, weight)  # (..., out)


def embedding(ids: Tensor, weight: Tensor) -> Tensor:
    return weight[ids]  # (..., dim)


def rmsnorm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def softmax(x: Tensor, dim: int) -> Tensor:
    return (x - x.logsumexp(dim, keepdim=True)).exp()
