"""Rows of six numbers in four classes, made from a seed; which of them a rank gets; the noise put on them."""

import torch
from torch import Tensor

FEATURES, CLASSES = 6, 4


def make(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Rows of numbers, (rows, FEATURES), and their classes, (rows,)."""
    centres = 0.9 * torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(7))
    stream = torch.Generator().manual_seed(seed)
    y = torch.randint(CLASSES, (rows,), generator=stream)
    return centres[y] + torch.randn(rows, FEATURES, generator=stream), y


class Sampler:
    """The row numbers of one rank, in an order that seed and epoch decide."""

    def __init__(self, size: int, rank: int, world: int, seed: int = 0) -> None:
        self.size, self.rank, self.world, self.seed = size, rank, world, seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def rows(self) -> Tensor:
        stream = torch.Generator().manual_seed(1000 * self.seed + self.epoch)
        order = torch.randperm(self.size, generator=stream)
        return order[self.rank :: self.world]


def batches(sampler: Sampler, epoch: int, size: int) -> list[Tensor]:
    """The row numbers of an epoch, batch by batch."""
    sampler.set_epoch(epoch)
    return list(sampler.rows().split(size))


def noise_stream(seed: int, rank: int) -> torch.Generator:
    """Where a rank's noise comes from."""
    return torch.Generator().manual_seed(1000 * seed + rank)


def noisy(x: Tensor, stream: torch.Generator) -> Tensor:
    """Augmentation: the rows with noise of deviation 0.3."""
    return x + 0.3 * torch.randn(x.shape, generator=stream)
