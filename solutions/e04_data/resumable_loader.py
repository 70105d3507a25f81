from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils.data import DataLoader


class ResumableLoader:
    def __init__(self, dataset: Sequence[Any], batch_size: int, seed: int = 0, **options: Any) -> None:
        self.dataset = dataset
        self.batch_size = batch_size
        self.seed = seed
        self.options = options
        self.epoch = 0
        self.done = 0  # batches of this epoch that came out

    def __iter__(self) -> Iterator[Any]:
        order = torch.randperm(len(self.dataset), generator=self._generator()).tolist()
        batches = [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        left = batches[self.done :]
        loader = DataLoader(self.dataset, batch_sampler=left, generator=self._generator(), **self.options)
        for batch in loader:
            self.done += 1  # before the batch goes out: the state is taken while the loop has it
            if self.done == len(batches):
                self.epoch, self.done = self.epoch + 1, 0
            yield batch

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "done": self.done}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.epoch, self.done = state["epoch"], state["done"]

    def _generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(self.seed + self.epoch)
