"""Rows of eight numbers in six classes, made up from a seed, and the order in which they come."""

import random
from typing import Any

import torch
from torch import Tensor

FEATURES, CLASSES = 8, 6


def make(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Rows of numbers, (rows, FEATURES), and their classes, (rows,)."""
    centres = 1.1 * torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(7))
    stream = torch.Generator().manual_seed(seed)
    y = torch.randint(CLASSES, (rows,), generator=stream)
    return centres[y] + torch.randn(rows, FEATURES, generator=stream), y


def brighten(x: Tensor) -> Tensor:
    """Augmentation: the batch times a number between 0.7 and 1.3, from the stream of Python's `random`."""
    return x * random.uniform(0.7, 1.3)


class Sampler:
    """Batches of row numbers without end; seed and epoch decide the order of an epoch."""

    def __init__(self, size: int, batch: int, seed: int) -> None:
        self.size, self.batch, self.seed = size, batch, seed
        self.epoch, self.place = 0, 0

    def __next__(self) -> Tensor:
        if self.place >= self.size:
            self.epoch, self.place = self.epoch + 1, 0
        stream = torch.Generator().manual_seed(1000 * self.seed + self.epoch)
        rows = torch.randperm(self.size, generator=stream)[self.place : self.place + self.batch]
        self.place += self.batch
        return rows

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "place": self.place}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.epoch = state["epoch"]
        self.place = state["place"]
