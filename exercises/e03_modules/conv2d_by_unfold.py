"""A convolution as one matrix product: gather the windows, then multiply.

Libraries have computed convolutions like this for long ("im2col"): every window of the picture that the filter
looks at becomes a column, and one product with the filters as rows gives all results.

    x = torch.tensor([[[[1., 2., 3.], [4., 5., 6.], [7., 8., 9.]]]])
    weight = torch.tensor([[[[1., 2.], [0., 0.]]]])
    conv2d(x, weight)                 # [[[[5, 8], [14, 17]]]]: 5 = 1 * 1 + 2 * 2
    conv2d(x, weight, padding=1)      # the last row, of 4, is [14, 23, 26, 9]

- x is (batch, channels, height, width), weight (filters, channels / groups, kernel height, kernel width).
- stride and padding (zeros) are the same in both directions. Windows that do not fit are left out.
- With `groups`, channels and filters fall into as many blocks in order; each block of filters sees its channels.
- Gradients flow to x, weight and bias.
- `F.unfold` may gather; none of PyTorch's convolutions. No loop over pictures or places.

Fine print:
- No loop over groups either.
- The result has x's dtype, also in half precision and float64. No pictures give no results.
- x may have any strides; the arguments stay as they are. On another device nothing goes to or from the CPU.
- ValueError (RuntimeError will do) where channels do not fit weight and groups, groups do not divide the filters,
  or a kernel is larger than the padded picture.
"""

from jaxtyping import Float
from torch import Tensor


def conv2d(
    x: Float[Tensor, "batch channels height width"],
    weight: Float[Tensor, "filters channels/groups kernel_height kernel_width"],
    bias: Float[Tensor, "filters"] | None = None,
    stride: int = 1,
    padding: int = 0,
    groups: int = 1,
) -> Float[Tensor, "batch filters high wide"]:
    """What `F.conv2d` returns."""
    raise NotImplementedError
