import torch
from jaxtyping import Float
from torch import Tensor


def rotary(
    x: Float[Tensor, "*batch time dim"], offset: int = 0, *, base: float = 10_000.0, interleaved: bool = False
) -> Float[Tensor, "*batch time dim"]:
    time, dim = x.shape[-2:]
    if dim % 2:
        raise ValueError(f"dim is to be even, not {dim}")
    exact = x if x.dtype == torch.float64 else x.float()
    pairs = torch.arange(0, dim, 2, device=x.device, dtype=exact.dtype)
    positions = torch.arange(offset, offset + time, device=x.device, dtype=exact.dtype)
    angles = positions[:, None] * base ** (-pairs / max(dim, 1))  # (time, dim / 2)
    cos, sin = angles.cos(), angles.sin()
    if interleaved:
        a, b = exact[..., 0::2], exact[..., 1::2]
    else:
        a, b = exact[..., : dim // 2], exact[..., dim // 2 :]
    turned = [a * cos - b * sin, a * sin + b * cos]
    result = torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)
    return result.to(x.dtype)
