"""Quantize weights to int8, by their largest absolute value.

A weight takes four bytes in float32 and one in int8. Take scale = absmax / 127, where absmax is the largest absolute
value, and keep q = x / scale, rounded to whole numbers. `dequantize` multiplies by the scale again.

    x = torch.tensor([[63.5, -254.0, 1.0], [0.0, 0.5, -1.27]])
    q, scale = quantize(x)                  # [[32, -127, 0], [0, 0, -1]], and 254 / 127 = 2.0
    dequantize(q, scale)                    # [[64, -254, 0], [0, 0, -2]]
    q, scale = quantize(x, channel=0)       # [[32, -127, 0], [0, 50, -127]], and [[2.0], [0.01]]

- With `channel`, every index of that dimension gets its own scale: the rows of a matrix, say.
- channel may be negative. scale then has size 1 along all other dimensions, so that q * scale broadcasts.
- Each number comes back off by half its scale at most.
- q is int8, and scale float32.

Fine print:
- scale is absmax / 127 to its last digit, so that q goes from -127 to 127 and -x gives -q: gpt-fast's 127.5 and -128
  do the job, and lose this. Without channel scale has the shape ().
- float16 and bfloat16 are computed in float32, and scale is float32: in float16 1e-6 / 127 is 0.
- There is no smallest scale: numbers around 1e-10 come back as well.
- A channel of zeros has a q of 0 and a scale above 0, such as 1.
- dequantize returns the dtype asked for: it multiplies in float32 and rounds once.
- x may be a Parameter, and transposed: it stays as it is, and the results carry no graph.
- No loop over channels. All stays on x's device.
"""

import torch
from jaxtyping import Float, Int8
from torch import Tensor


def quantize(
    x: Float[Tensor, "*shape"], channel: int | None = None
) -> tuple[Int8[Tensor, "*shape"], Float[Tensor, "*scales"]]:
    """The whole numbers q, and the scale: one for all, or one for each index of the dimension `channel`."""
    raise NotImplementedError


def dequantize(
    q: Int8[Tensor, "*shape"], scale: Float[Tensor, "*scales"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*shape"]:
    """What `quantize` has rounded, in `dtype`: float32, float16 or bfloat16."""
    raise NotImplementedError
