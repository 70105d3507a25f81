import torch
from jaxtyping import Float, Int8
from torch import Tensor


@torch.no_grad()
def quantize(
    x: Float[Tensor, "*shape"], channel: int | None = None
) -> tuple[Int8[Tensor, "*shape"], Float[Tensor, "*scales"]]:
    wide = x.float()
    if channel is None:
        absmax = wide.abs().max()  # ()
    else:
        others = [dim for dim in range(x.ndim) if dim != channel % x.ndim]
        absmax = wide.abs().amax(others, keepdim=True)  # (1, …, channels, …, 1)
    scale = absmax / 127
    scale = scale.masked_fill(scale == 0, 1.0)  # channels of zeros
    return (wide / scale).round().to(torch.int8), scale


def dequantize(
    q: Int8[Tensor, "*shape"], scale: Float[Tensor, "*scales"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*shape"]:
    return (q.float() * scale).to(dtype)
