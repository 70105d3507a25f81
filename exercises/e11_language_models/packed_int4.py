"""Four-bit weights: quantized by groups, two to a byte.

A model of 8 billion weights takes 16 GB in bfloat16, and about 5 GB in four bits. Each group of group_size neighbours in
a row of weight, (out, in), has a scale and an offset of its own, low (so does llama.cpp's Q4_1). With the largest and
smallest weight of the group:

    low = smallest,   scale = (largest - smallest) / 15
    q = (w - low) / scale, rounded to 0, …, 15                # `unpack` gives back q * scale + low

    weight = torch.tensor([[0.0, 1.2, 2.0, 15.0, -1.0, -0.9, -0.7, 0.5]])
    packed, scales, lows = pack(weight, group_size=4)
    packed                           # [[16, 242, 16, 243]]: 0 + 16 * 1, 2 + 16 * 15, 0 + 16 * 1, 3 + 16 * 15
    scales, lows                     # [[1.0, 0.1]] and [[0.0, -1.0]]
    unpack(packed, scales, lows)     # [[0.0, 1.0, 2.0, 15.0, -1.0, -0.9, -0.7, 0.5]]

- packed is uint8, (out, in / 2): byte j holds column 2 * j in its low four bits, column 2 * j + 1 in its high ones.
- scales and lows are (out, in / group_size).
- `unpack` finds the group's size from the shapes.

Fine print:
- A group of equal weights comes back as it was, and scales hold no NaN.
- There is no smallest scale: groups whose weights differ by 1e-10 come back like others.
- float16 and bfloat16 are computed in float32; scales, lows and what `unpack` returns are float32.
- weight may be a Parameter, and transposed in memory: it stays as it is, and no result carries a graph.
- out may be 0.
- Where in is odd or no multiple of group_size, `pack` raises ValueError (RuntimeError will do).
- No loop over rows or groups. All stays on the device.
"""

from jaxtyping import Float, UInt8
from torch import Tensor


def pack(
    weight: Float[Tensor, "out in"], group_size: int
) -> tuple[UInt8[Tensor, "out in/2"], Float[Tensor, "out groups"], Float[Tensor, "out groups"]]:
    """Quantize weight, (out, in), by groups along in: the packed weights, the scales, the lows."""
    raise NotImplementedError


def unpack(
    packed: UInt8[Tensor, "out in/2"], scales: Float[Tensor, "out groups"], lows: Float[Tensor, "out groups"]
) -> Float[Tensor, "out in"]:
    """The weights, (out, in), that `pack` has rounded."""
    raise NotImplementedError
