import math

import torch
from jaxtyping import Float
from torch import Tensor


def pick_device() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def angle_dtype(device: torch.device) -> torch.dtype:
    return torch.float32 if device.type == "mps" else torch.float64


def add_positions(x: Float[Tensor, "*batch time dim"]) -> Float[Tensor, "*batch time dim"]:
    time, dim = x.shape[-2:]
    wide = angle_dtype(x.device)
    position = torch.arange(time, dtype=wide, device=x.device).unsqueeze(1)  # (time, 1)
    rate = torch.exp(torch.arange(0, dim, 2, dtype=wide, device=x.device) * (-math.log(10000.0) / dim))
    angle = position * rate  # (time, dim / 2)
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (time, dim), in turns
    return x + table.to(x.dtype)  # (*batch, time, dim)
