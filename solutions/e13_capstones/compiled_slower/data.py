"""Sequences of many lengths in four classes, and batches of them."""

import torch
from torch import Tensor
from torch.nn import functional as F

CLASSES, FEATURES, MULTIPLE = 4, 2, 16


def make(number: int, seed: int) -> list[tuple[Tensor, int]]:
    """Sequences (time, FEATURES), each with its class."""
    gen = torch.Generator().manual_seed(seed)
    found = []
    for _ in range(number):
        time, label = (
            int(torch.randint(5, 60, (), generator=gen)),
            int(torch.randint(CLASSES, (), generator=gen)),
        )
        centre = torch.tensor([label % 2 - 0.5, label // 2 - 0.5])
        found.append((centre + torch.randn(time, FEATURES, generator=gen), label))
    return found


def batches(sequences: list[tuple[Tensor, int]], size: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Batches of `size` rows: x (rows, time, FEATURES), lengths (rows,), labels (rows,)."""
    found = []
    for start in range(0, len(sequences), size):
        rows = sequences[start : start + size]
        rows = rows + [(torch.zeros(0, FEATURES), 0)] * (size - len(rows))
        lengths = torch.tensor([len(x) for x, _ in rows])
        time = -(-int(lengths.max()) // MULTIPLE) * MULTIPLE
        x = torch.stack([F.pad(x, (0, 0, 0, time - len(x))) for x, _ in rows])
        found.append((x, lengths, torch.tensor([label for _, label in rows])))
    return found
