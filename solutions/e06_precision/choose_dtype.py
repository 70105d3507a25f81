import math

import torch
from jaxtyping import Shaped
from torch import Tensor

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def float_for(smallest: float, largest: float, error: float) -> torch.dtype:
    if not 0 < smallest <= largest < math.inf:
        raise ValueError(f"need 0 < smallest <= largest < inf, not {smallest} and {largest}")
    for dtype in FLOATS:
        info = torch.finfo(dtype)
        if info.smallest_normal <= smallest and largest <= info.max and info.eps / 2 <= error:
            return dtype
    raise ValueError(f"no dtype holds {smallest:g} to {largest:g} within {error:g}")


def int_for(low: int, high: int) -> torch.dtype:
    if low > high:
        raise ValueError(f"need low <= high, not {low} and {high}")
    for dtype in INTEGERS:
        info = torch.iinfo(dtype)
        if info.min <= low and high <= info.max:
            return dtype
    raise ValueError(f"no dtype holds {low} to {high}")


def compact(x: Shaped[Tensor, "*shape"], error: float) -> Shaped[Tensor, "*shape"]:
    if x.dtype == torch.bool:
        return x
    if not x.is_floating_point():
        low, high = (int(x.min()), int(x.max())) if x.numel() else (0, 0)
        return x.to(int_for(low, high))
    sizes = x.abs()
    sizes = sizes[(sizes > 0) & (sizes < math.inf)]  # (numbers that count,)
    if not sizes.numel():
        return x.to(FLOATS[0])
    return x.to(float_for(sizes.min().item(), sizes.max().item(), error))
