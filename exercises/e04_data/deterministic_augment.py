"""Augment by seed, epoch and index: the same numbers in whatever order a dataset is read.

A run is to repeat with two workers or eight, and when it goes on after a crash. What a stream of random numbers gives
depends on who drew before. Let an item's numbers follow from its seed, epoch and index alone:

    def noisy(x, generator):
        return x + torch.randn(x.shape, generator=generator)

    data = SeededAugment(torch.zeros(3, 2), noisy, seed=7)
    data[2]              # such as [0.3, -1.2], each time that it is read
    data.set_epoch(1)
    data[2]              # such as [-0.8, 0.5]

- Item i is `transform(dataset[i], generator)`, with a new generator on the CPU.
- The same seed, epoch and index give the same numbers: in any order, any worker, any run.
- Another index, epoch or seed gives others. In a sum, index 1 of epoch 0 is index 0 of epoch 1.
- The epoch is 0 until `set_epoch` says another.

Fine print:
- No two triples share their numbers, large ones (up to 2**32 - 1) included, but by a rare chance. A generator on the CPU
  looks at the lower 32 bits of its seed alone: it is no use to pack three numbers into 64.
- `hash` of a text is another number in each process.
- `set_epoch` reaches workers that stay from epoch to epoch (persistent_workers=True), too: put the epoch into shared
  memory.
- Index -1 is the last item, with the numbers that this has.
- The global random streams of torch, NumPy and Python are afterwards where they were.
- It can be pickled.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils.data import Dataset


class SeededAugment(Dataset[Any]):
    """A dataset whose items are transformed, with random numbers that belong to seed, epoch and index."""

    def __init__(
        self, dataset: Sequence[Any], transform: Callable[[Any, torch.Generator], Any], seed: int = 0
    ) -> None:
        """`dataset` has a len and items; seed, epoch and index are 0 or more."""
        raise NotImplementedError

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose numbers come from now on."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, index: int) -> Any:
        """The item, transformed."""
        raise NotImplementedError
