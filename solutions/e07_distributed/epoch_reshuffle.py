from collections.abc import Callable
from typing import Any

from torch.utils.data import DataLoader, Dataset, DistributedSampler


def run_epochs(
    dataset: Dataset[Any],
    train_batch: Callable[[int, Any], None],
    batch_size: int,
    epochs: int,
    first_epoch: int = 0,
    seed: int = 0,
) -> None:
    sampler = DistributedSampler(dataset, shuffle=True, seed=seed)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    for epoch in range(first_epoch, epochs):
        sampler.set_epoch(epoch)  # before the iterator is made: it takes the order then
        for batch in loader:
            train_batch(epoch, batch)
