"""Clip outliers through a mask, and leave the raw readings alone.

Now and then a sensor reports 9999. Before training, each reading below `low` becomes `low` and each reading above `high`
becomes `high`; every other one comes through as it is, in a new tensor:

    x = torch.tensor([0.5, -7.0, 9999.0, 1.0])
    clip_outliers(x, low=-2.0, high=1.5)     # [0.5, -2.0, 1.5, 1.0]
    x                                        # [0.5, -7.0, 9999.0, 1.0], as before

The first try below clips well, but afterwards the plot of the raw readings shows no outlier either. In training it even
raises an error: what is learned from must not be written over.

- Tensors all the way, and no `.data` or `.detach()`: training needs that (section e02).

Fine print:
- The result has memory of its own, even if nothing is clipped.
- The dtype of x comes out, and each bound as exactly as it holds it: in float64, 0.1 is 0.1.
- inf and -inf are clipped like other numbers; NaN stays NaN.
- The gradient (section e02) of a reading that equals a bound is 1, or what torch's own `clamp` has.
- Readings may have any shape and any strides; there may be none.
- On another device, nothing is copied to the CPU.
"""

from jaxtyping import Float
from torch import Tensor


def clip_outliers(x: Float[Tensor, "*shape"], low: float, high: float) -> Float[Tensor, "*shape"]:
    """The readings, with what lies outside of low … high replaced by the nearer bound."""
    x[x < low] = low
    x[x > high] = high
    return x
