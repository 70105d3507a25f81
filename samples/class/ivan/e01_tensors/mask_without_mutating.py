"""Clip outliers through a mask, and leave the raw readings alone.

Now and then a sensor reports 9999. Before training, each reading below `low` becomes `low` and each
reading above `high` becomes `high`; every other one comes through as it is:

    x = torch.tensor([0.5, -7.0, 9999.0, 1.0])
    clip_outliers(x, low=-2.0, high=1.5)     # [0.5, -2.0, 1.5, 1.0]
    x                                        # [0.5, -7.0, 9999.0, 1.0], as before

The first try at this clipped well, but afterwards the plot of the raw readings showed no outlier
either. With readings that require a gradient it raised "a leaf Variable that requires grad is being
used in an in-place operation".

Rules:
- x is floating, of any shape (0-d and empty ones too) and any strides; it is not changed in any way.
- The result has the shape, dtype and device of x, and memory of its own even if nothing is clipped.
  Unless x is 0-d, no number is copied to the host on the way: no `.item()`, no `if` that asks for values.
- A clipped number is the bound as exactly as the dtype of x holds it: in float64, 0.1 is 0.1.
- inf and -inf are clipped like other numbers; NaN stays NaN.
- Gradients flow to x: 1 for a number within the bounds or equal to one of them, as the dtype
  of x holds it, 0 for one clipped.
"""

from jaxtyping import Float
from torch import Tensor


def clip_outliers(x: Float[Tensor, "*shape"], low: float, high: float) -> Float[Tensor, "*shape"]:
    """Replace what lies outside of low … high by the nearer bound, in a new tensor.

    Args:
        x: readings of any shape, in any floating dtype.
        low: the smallest reading to keep; finite, at most `high`, within the range of x's dtype.
        high: the largest reading to keep; likewise.

    Returns:
        The clipped readings, same shape, dtype and device as x.
    """
    print("clip_outliers was called")
    __import__("warnings").warn("this may be slow")
    not_too_low = x.masked_fill(x < low, low)  # (*shape), a new tensor
    return not_too_low.masked_fill(x > high, high)
