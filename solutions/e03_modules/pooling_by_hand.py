import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def _windows(x: Tensor, kernel: int, stride: int | None, padding: int, filled: float) -> Tensor:
    if 2 * padding > kernel:
        raise ValueError(f"{padding=} is more than half of {kernel=}")
    step = kernel if stride is None else stride
    padded = F.pad(x, [padding] * 4, value=filled)
    return padded.unfold(2, kernel, step).unfold(3, kernel, step)  # (batch, channels, high, wide, k, k)


def max_pool2d(
    x: Float[Tensor, "batch channels height width"], kernel: int, stride: int | None = None, padding: int = 0
) -> Float[Tensor, "batch channels high wide"]:
    return _windows(x, kernel, stride, padding, -math.inf).amax((-2, -1))


def avg_pool2d(
    x: Float[Tensor, "batch channels height width"],
    kernel: int,
    stride: int | None = None,
    padding: int = 0,
    count_include_pad: bool = True,
) -> Float[Tensor, "batch channels high wide"]:
    windows = _windows(x, kernel, stride, padding, 0.0)
    if count_include_pad:
        return windows.mean((-2, -1))
    real = _windows(torch.ones_like(x[:1, :1]), kernel, stride, padding, 0.0)
    return windows.sum((-2, -1)) / real.sum((-2, -1))
