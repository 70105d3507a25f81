import torch
from jaxtyping import Float, UInt8
from torch import Tensor


@torch.no_grad()
def pack(
    weight: Float[Tensor, "out in"], group_size: int
) -> tuple[UInt8[Tensor, "out in/2"], Float[Tensor, "out groups"], Float[Tensor, "out groups"]]:
    features = weight.shape[1]
    if features % 2 or features % group_size:
        raise ValueError(f"{features} columns are no pairs, or no groups of {group_size}")
    groups = weight.float().unflatten(1, (-1, group_size))  # (out, groups, group_size)
    lows, largest = groups.aminmax(dim=2, keepdim=True)  # (out, groups, 1)
    scales = (largest - lows) / 15
    steps = scales.masked_fill(scales == 0, 1.0)  # where all of a group are equal
    q = ((groups - lows) / steps).round().to(torch.uint8).flatten(1)  # (out, in)
    packed = q[:, 0::2] | q[:, 1::2] << 4  # (out, in / 2)
    return packed, scales.squeeze(2), lows.squeeze(2)


def unpack(
    packed: UInt8[Tensor, "out in/2"], scales: Float[Tensor, "out groups"], lows: Float[Tensor, "out groups"]
) -> Float[Tensor, "out in"]:
    q = torch.stack([packed & 15, packed >> 4], dim=2).flatten(1)  # (out, in)
    groups = q.unflatten(1, (scales.shape[1], -1))  # (out, groups, group_size)
    return (groups * scales[:, :, None] + lows[:, :, None]).flatten(1)
