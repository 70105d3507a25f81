"""Recordings of pumps, made up from a seed, and the batches that they come in."""

import torch
from torch import Tensor

FEATURES, READINGS, CLASSES = 8, 10, 6
Batch = tuple[Tensor, Tensor, Tensor]


def make(rows: int, seed: int, gaps: int = 2560) -> Batch:
    """Readings in half (rows, READINGS, FEATURES), seconds and labels (rows,); gaps from row `gaps` on."""
    pumps = torch.randn(3, FEATURES, generator=torch.Generator().manual_seed(5))
    stream = torch.Generator().manual_seed(seed)
    pump = torch.randint(3, (rows,), generator=stream)
    seconds = torch.randint(8000, (rows,), generator=stream)
    loudness = 100 + 400 * torch.rand(rows, 1, 1, generator=stream)
    clear = torch.rand(rows, READINGS, 1, generator=stream) < 0.6
    noise = 0.7 * torch.randn(rows, READINGS, FEATURES, generator=stream)
    readings = loudness * (clear * pumps[pump].unsqueeze(1) + noise)
    readings[gaps:, READINGS // 2 :] = 0
    return readings.half(), seconds, 2 * pump + (seconds % 8 >= 4)


def batches(data: Batch, step: int, size: int = 16, count: int = 4) -> list[Batch]:
    """The small batches of an update, in the order of time; behind the last row comes the first."""
    rows = torch.arange(step * size * count, (step + 1) * size * count) % len(data[0])
    return [tuple(part[chosen] for part in data) for chosen in rows.split(size)]
