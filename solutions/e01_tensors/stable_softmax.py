import math

import torch
from jaxtyping import Float
from torch import Tensor


def softmax(x: Float[Tensor, "*shape"], dim: int) -> Float[Tensor, "*shape"]:
    powers, _ = _shifted_exp(x, dim)
    total = powers.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1)  # a slice of -inf: 0 / 1, for the value and the gradient
    return (powers / total).to(x.dtype)  # (*shape)


def logsumexp(x: Float[Tensor, "*shape"], dim: int) -> Float[Tensor, "*reduced"]:
    powers, peak = _shifted_exp(x, dim)
    total = powers.sum(dim)  # (*reduced)
    empty = total == 0
    # The logarithm never sees a 0: its gradient there is inf, and inf times 0 is NaN.
    result = total.masked_fill(empty, 1).log() + peak.squeeze(dim)
    return result.masked_fill(empty, -math.inf).to(x.dtype)


def _shifted_exp(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """exp(x - peak), at least in float32, and the peak, with `dim` kept; both finite."""
    exact = x if x.dtype == torch.float64 else x.float()  # half would round at each step
    peak = exact.detach().amax(dim, keepdim=True)  # the shift cancels: it needs no gradient
    peak = peak.masked_fill(peak == -math.inf, 0)  # -inf - -inf is NaN
    return (exact - peak).exp(), peak
