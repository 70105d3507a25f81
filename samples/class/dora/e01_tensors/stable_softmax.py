"""Softmax and logsumexp by hand, for logits of any size.

softmax turns logits into probabilities: exp(x) divided by the sum of exp(x) along `dim`. logsumexp is
the logarithm of that sum. Written like this, both are inf or NaN for logits near 1e4: shift each slice by
its own largest logit first.

    logits = torch.tensor([[0., 0., math.log(2.)], [1e4, 1e4, -math.inf]])
    softmax(logits, dim=1)      # [[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]
    logsumexp(logits, dim=1)    # [1.3863, 10000.6931]: log(4) and 1e4 + log(2)

Rules: without PyTorch's own softmax, log_softmax, softmin, logsumexp, logaddexp, logcumsumexp, cross_entropy,
gumbel_softmax and scaled_dot_product_attention, in any spelling.

Any floating dtype comes in, the same goes out. float16 and bfloat16 are computed in float32 and rounded
once, at the end; float32 and float64 in their own precision. Both functions are right up to a few
roundings of the result or of 1, at 1e4 and -1e4 too (exp(x - logsumexp(x)) is not: at 1e4 the logsumexp
itself is rounded to 0.001). Slices may lie at very different heights.

Logits of -inf have probability 0. A slice of nothing but -inf has no probability to give: its softmax is
0 everywhere and its logsumexp -inf. Gradients flow through to x and are never NaN: they are 0 at each
-inf. x holds neither +inf nor NaN, has a dimension at least, and is never empty along `dim`; other sizes
may be 0. x is not changed; results are on its device, and no number is copied between it and the CPU.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def softmax(x: Float[Tensor, "*shape"], dim: int) -> Float[Tensor, "*shape"]:
    """Probabilities along a dimension.

    Args:
        x: logits.
        dim: the dimension along which the probabilities add up to one; may be negative.

    Returns:
        A tensor of the shape, dtype and device of `x`.
    """
    powers, _ = _shifted_exp(x, dim)
    total = powers.detach().sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1)  # a slice of -inf: 0 / 1, for the value and the gradient
    return (powers / total).to(x.dtype)  # (*shape)


def logsumexp(x: Float[Tensor, "*shape"], dim: int) -> Float[Tensor, "*reduced"]:
    """Logarithm of the sum of the exponentials along a dimension.

    Args:
        x: logits.
        dim: the dimension to sum over; may be negative. It is gone from the result.

    Returns:
        A tensor of the dtype and device of `x`, with one dimension less.
    """
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
