"""Linear maps, embeddings, RMSNorm and softmax."""

import torch
from torch import Tensor


def linear(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight.T  # (..., out)


def embedding(ids: Tensor, weight: Tensor) -> Tensor:
    return weight[ids]  # (..., dim)


def rmsnorm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    return x / x.square().mean(-1, keepdim=True).sqrt() * weight


def softmax(x: Tensor, dim: int) -> Tensor:
    return x.exp() / x.exp().sum(dim, keepdim=True)
