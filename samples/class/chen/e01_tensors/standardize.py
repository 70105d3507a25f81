"""Standardize features: mean 0 and variance 1 along any dimensions.

    result = (x - mean) / sqrt(variance + eps)

Mean and variance are taken over the dimension `dim`, or over all dimensions of the tuple `dim`
together, separately for each position along the others. The variance is the sum of the squared
differences from the mean, divided by n - correction; n counts the numbers it is taken over.

    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]])
    standardize(x, dim=1)                  # [[-1.2247, 0, 1.2247], [0, 0, 0]]
    standardize(x, dim=1, correction=1)    # [[-1, 0, 1], [0, 0, 0]], up to eps
    standardize(x, dim=(0, 1))             # one mean and one variance for all six

Rules:
- dim is an int or a tuple of one or more ints, each of which may be negative. x is floating, of one
  dimension or more and any strides; the result has its shape, dtype and device. x is not changed.
- float16 and bfloat16: everything is computed in float32 and only the result is rounded back, so that
  squares above 65504 do no harm. float32 and float64 are computed in their own dtype.
- Constant numbers, or a single one with correction=0, come out as 0 up to rounding, and their gradient
  is finite.
- Numbers far from zero, such as 30000 + noise, lose no more than the rounding of their mean. (The formula
  mean(x²) - mean² is not good enough.)
- Gradients flow through the mean and the variance. An empty batch, (0, features) with
  dim=1, comes back empty.
- No Python loop over rows or features. Any function of PyTorch is welcome.
"""

from jaxtyping import Float
from torch import Tensor


def standardize(
    x: Float[Tensor, "*shape"], dim: int | tuple[int, ...], *, correction: int = 0, eps: float = 1e-5
) -> Float[Tensor, "*shape"]:
    """Subtract the mean and divide by the square root of variance + eps, along `dim`.

    Args:
        x: features, floating.
        dim: the dimension, or the dimensions, to take mean and variance over.
        correction: what to subtract from the count in the variance: 0 population, 1 sample.
        eps: added to the variance, under the root.

    Returns:
        The standardized features, same shape and dtype as x.
    """
    raise NotImplementedError
