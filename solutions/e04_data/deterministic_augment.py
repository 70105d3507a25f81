from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset


class SeededAugment(Dataset[Any]):
    def __init__(
        self, dataset: Sequence[Any], transform: Callable[[Any, torch.Generator], Any], seed: int = 0
    ) -> None:
        self.dataset = dataset
        self.transform = transform
        self.seed = seed
        self.epoch = torch.zeros((), dtype=torch.int64).share_memory_()  # seen by workers that stay

    def set_epoch(self, epoch: int) -> None:
        self.epoch.fill_(epoch)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Any:
        index = range(len(self))[index]  # counted from the front
        mixed = np.random.SeedSequence([self.seed, int(self.epoch), index]).generate_state(1)
        generator = torch.Generator().manual_seed(int(mixed[0]))
        return self.transform(self.dataset[index], generator)
