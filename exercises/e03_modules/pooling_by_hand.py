"""Max and average pooling: one number for each window of a picture.

Between convolutions, pooling makes pictures smaller: a kernel × kernel window goes over each channel, `stride` places
at a time, and its largest number, or its mean, is kept.

    x = torch.tensor([[[[-1., -2., -3.], [-4., -5., -6.], [-7., -8., -9.]]]])
    max_pool2d(x, 2)                  # [[[[-1]]]]: windows that do not fit are left out
    max_pool2d(x, 2, padding=1)       # [[[[-1, -2], [-4, -5]]]]: the largest that is really there
    avg_pool2d(x, 2, padding=1)       # [[[[-0.25, -1.25], [-2.75, -7]]]]: -0.25 is (0 + 0 + 0 - 1) / 4
    avg_pool2d(x, 2, padding=1, count_include_pad=False)        # [[[[-1, -2.5], [-5.5, -7]]]]

- Without a stride, windows lie side by side: it is the kernel.
- Padding goes on all four sides. It is never the largest number; a mean takes it for zeros.
- With count_include_pad=False a mean is over what is really there.
- Gradients flow to x.
- No pooling of PyTorch's own, and no loop over pictures, channels or places.

Fine print:
- The result has x's dtype, also in half precision and float64. No pictures give no results.
- -inf in x is a number like others: a window of nothing but -inf has the maximum -inf.
- x may have any strides, and stays as it is. On another device nothing goes to or from the CPU.
- ValueError (RuntimeError will do) where padding is more than half of the kernel: a window could be all padding; and where
  the kernel is larger than the padded picture.
"""

from jaxtyping import Float
from torch import Tensor


def max_pool2d(
    x: Float[Tensor, "batch channels height width"], kernel: int, stride: int | None = None, padding: int = 0
) -> Float[Tensor, "batch channels high wide"]:
    """The largest number of each window."""
    raise NotImplementedError


def avg_pool2d(
    x: Float[Tensor, "batch channels height width"],
    kernel: int,
    stride: int | None = None,
    padding: int = 0,
    count_include_pad: bool = True,
) -> Float[Tensor, "batch channels high wide"]:
    """The mean of each window."""
    raise NotImplementedError
