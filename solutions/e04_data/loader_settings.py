import torch
from torch.utils.data import DataLoader, Dataset


def make_loaders(
    train: Dataset, test: Dataset, batch_size: int, seed: int = 0, workers: int = 0
) -> tuple[DataLoader, DataLoader]:
    train_loader = DataLoader(
        train,
        batch_size,
        shuffle=True,
        drop_last=len(train) >= batch_size,
        num_workers=workers,
        generator=torch.Generator().manual_seed(seed),
    )
    # Even a loader that does not shuffle draws a number in each epoch, for the seeds of its workers.
    test_loader = DataLoader(test, batch_size, num_workers=workers, generator=torch.Generator())
    return train_loader, test_loader
