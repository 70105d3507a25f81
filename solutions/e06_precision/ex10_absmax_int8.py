"""Weights in int8, by their largest absolute value.

One byte for each weight is a quarter of float32. A scale, one number for the whole tensor or for each of its
channels, says how much one step of the integers is worth:

    x = torch.tensor([[63.5, -254.0, 1.0], [0.0, 0.5, -1.27]])
    q, scale = quantize(x)                  # 254 / 127 = 2.0 and [[32, -127, 0], [0, 0, -1]]
    dequantize(q, scale)                    # [[64, -254, 0], [0, 0, -2]]: off by 1.0 at most, half a scale
    q, scale = quantize(x, channel=0)       # [[2.0], [0.01]] and [[32, -127, 0], [0, 50, -127]]

Rules:
- scale is absmax / 127 in float32, where absmax is the largest absolute value: of the whole tensor, for a
  scale of shape (), or of all that lies at one index of dimension channel. Then scale has x's size along
  channel and 1 along all other dimensions, so that q · scale broadcasts. channel may be negative.
- q is x / scale, rounded to the nearest integer, halves to even as torch.round does, in int8. It has x's
  shape and goes from -127 to 127: -128 does not occur.
- So each number that dequantize returns in float32 is off by scale / 2 at most, but for rounding errors of
  float32. This holds for all that the dtype of x can hold: nothing is computed in 16 bits, where 65504 / 127
  loses its digits and 1e-6 / 127 vanishes, and nothing overflows at 3e38.
- Where absmax / 127 is below 2⁻¹²⁶, the smallest normal number of float32 (a channel of zeros, or as good
  as), scale is 1.0 and q is 0. The same goes for no numbers at all. Other channels are not affected.
- x is float32, float16 or bfloat16, of any shape, () and sizes of 0 among them, with any strides. It is not
  changed. Both results are on its device, and carry no graph where x requires gradients.
- dequantize(q, scale, dtype) is q · scale in float32, then rounded once to dtype: float32, float16, bfloat16.
- The number of operations does not grow with the number of channels.

Bad input: inf or NaN in x raises ValueError, integers or booleans TypeError, a channel that x does not have
IndexError.
"""

import torch
from jaxtyping import Float, Int8
from torch import Tensor


def quantize(
    x: Float[Tensor, "*shape"], channel: int | None = None
) -> tuple[Int8[Tensor, "*shape"], Float[Tensor, "*scales"]]:
    """Round a tensor to int8 steps.

    Args:
        x: finite numbers.
        channel: the dimension whose indices get a scale each; None for one scale.

    Returns:
        The integers, and the scale in float32.

    Raises:
        ValueError: x holds inf or NaN.
        TypeError: x is not floating.
        IndexError: x has no such dimension.
    """
    if not x.is_floating_point():
        raise TypeError(f"x must be floating, not {x.dtype}")
    if channel is not None and not -x.ndim <= channel < x.ndim:
        raise IndexError(f"x has {x.ndim} dimensions, and none with the index {channel}")
    wide = x.detach().float()  # *shape; 16 bits end too early at both ends
    if not wide.isfinite().all():
        raise ValueError("x holds inf or NaN")
    scale = _absmax(wide, channel) / 127
    scale = scale.masked_fill(scale < torch.finfo(torch.float32).tiny, 1.0)  # () or (1, …, channels, …, 1)
    steps = (wide / scale).round().clamp(-127, 127)  # halves to even
    return steps.to(torch.int8), scale


def _absmax(x: Tensor, channel: int | None) -> Tensor:
    """The largest absolute values, 0 where there are no numbers."""
    kept = None if channel is None else channel % x.ndim
    others = [dim for dim in range(x.ndim) if dim != kept]
    if not others:  # amax over no dimension would take all of them
        return x.abs()
    if x.numel() == 0:  # amax of nothing is an error
        shape = [size if dim == kept else 1 for dim, size in enumerate(x.shape)]
        return x.new_zeros(() if kept is None else shape)
    return x.abs().amax(others, keepdim=kept is not None)


def dequantize(
    q: Int8[Tensor, "*shape"], scale: Float[Tensor, "*scales"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*shape"]:
    """The numbers that `quantize` has rounded, in `dtype`.

    Args:
        q: integers.
        scale: in float32, of a shape that broadcasts with q's.
        dtype: torch.float32, torch.float16 or torch.bfloat16.
    """
    return (q.float() * scale).to(dtype)
