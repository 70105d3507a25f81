import math

import torch
from torch.optim.lr_scheduler import LambdaLR


def warmup_cosine(step: int, warmup: int, total: int, floor: float = 0.0) -> float:
    if step < 0 or warmup < 0 or total < warmup:
        raise ValueError(f"want step >= 0 and 0 <= warmup <= total, got {step=}, {warmup=}, {total=}")
    if not 0 <= floor <= 1:
        raise ValueError(f"floor must be from 0 to 1, got {floor}")
    if step >= total:  # first: total - warmup may be 0
        return float(floor)
    if step < warmup:
        return (step + 1) / warmup
    share = (step - warmup) / (total - warmup)  # 0 up to, but not including, 1
    return floor + (1 - floor) * (1 + math.cos(math.pi * share)) / 2


def warmup_cosine_schedule(
    optimizer: torch.optim.Optimizer, warmup: int, total: int, floor: float = 0.0
) -> LambdaLR:
    return LambdaLR(optimizer, lambda step: warmup_cosine(step, warmup, total, floor))
