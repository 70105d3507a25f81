"""Standardize features: mean 0 and variance 1 along any dimensions.

Take the mean and the variance of x over the dimension `dim`, or over all dimensions of the tuple `dim` together,
separately for each position along the others, and return

    (x - mean) / sqrt(variance + eps)

    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]])
    standardize(x, dim=1)                  # [[-1.2247, 0, 1.2247], [0, 0, 0]]
    standardize(x, dim=1, correction=1)    # [[-1, 0, 1], [0, 0, 0]], up to eps
    standardize(x, dim=(0, 1))             # one mean and one variance for all six

- The variance is the sum of the squared differences from the mean, divided by n - correction.
- Tensors all the way, and no `.detach()`: training needs that (section e02).
- Any function of PyTorch is welcome; no Python loop over rows or features.

Fine print:
- Half precision is computed in float32 and rounded once, at the end: squares above 65504 do no harm.
- Numbers such as 30000 + noise keep their digits: mean(x²) - mean² is not good enough. float64 stays float64.
- Equal numbers have a finite gradient (section e02). An empty batch comes back empty.
- The result has x's dtype and device; x stays as it is.
"""

from jaxtyping import Float
from torch import Tensor


def standardize(
    x: Float[Tensor, "*shape"], dim: int | tuple[int, ...], *, correction: int = 0, eps: float = 1e-5
) -> Float[Tensor, "*shape"]:
    """Subtract the mean and divide by the root of variance + eps; `dim` may be negative, or several."""
    raise NotImplementedError
