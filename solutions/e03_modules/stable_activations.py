import math

import torch
from jaxtyping import Float
from torch import Tensor


def _exact(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


def sigmoid(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    exact = _exact(x)
    low = exact.clamp(
        max=0.0
    ).exp()  # each exp gets what it can take: `where` alone leaves NaN in the gradient
    high = (-exact.clamp(min=0.0)).exp()
    return torch.where(exact >= 0, 1 / (1 + high), low / (1 + low)).to(x.dtype)


def _softplus(x: Tensor) -> Tensor:
    low = x.clamp(max=0.0).exp().log1p()
    high = x.clamp(min=0.0)
    return torch.where(x > 0, high + (-high).exp().log1p(), low)


def softplus(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return _softplus(_exact(x)).to(x.dtype)


def log_sigmoid(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return (-_softplus(-_exact(x))).to(x.dtype)


def gelu(x: Float[Tensor, "*shape"], tanh: bool = False) -> Float[Tensor, "*shape"]:
    exact = _exact(x)
    if tanh:
        share = (math.sqrt(2 / math.pi) * (exact + 0.044715 * exact**3)).tanh()
    else:
        share = (exact / math.sqrt(2)).erf()
    return (exact / 2 * (1 + share)).to(x.dtype)
