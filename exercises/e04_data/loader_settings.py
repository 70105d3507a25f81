"""Settings of two loaders: one to learn from, one to be judged by.

With the code below, 33 examples and batches of 8, training stops: "Expected more than 1 value per channel". The
accuracy is that of 96 of 100 test images, the predictions are out of order. One more `torch.randn` in the model
changes the training order, seed or not.

    train_loader, test_loader = make_loaders(list(range(9)), list(range(5)), batch_size=4, seed=1)
    list(train_loader)    # e.g. [tensor([8, 1, 0, 5]), tensor([4, 7, 2, 6])], next time in another order
    list(test_loader)     # [tensor([0, 1, 2, 3]), tensor([4])], each time

- Test: every example once, in the order of the dataset; what is left is a shorter batch.
- Training: a new order in each epoch, in batches of exactly batch_size; a rest is left out.
- The same seed gives the same training batches, epoch by epoch, whatever else draws random numbers; another
  seed, others.
- Each loader reads with `workers` processes.

Fine print:
- Fewer examples to train on than batch_size are one batch, of all of them.
- Neither making nor iterating the loaders draws from torch's global random stream, or seeds it. A loader without
  shuffle draws a number in each epoch, too: the seed of its workers.
- Iterating the test loader, or other loaders, changes no training batch.
"""

import torch
from torch.utils.data import DataLoader, Dataset


def make_loaders(
    train: Dataset, test: Dataset, batch_size: int, seed: int = 0, workers: int = 0
) -> tuple[DataLoader, DataLoader]:
    """A loader of `train`, in an order that comes from `seed`, and one of `test`."""
    torch.manual_seed(seed)
    train_loader = DataLoader(train, batch_size, shuffle=True, num_workers=workers)
    test_loader = DataLoader(test, batch_size, shuffle=True, drop_last=True, num_workers=workers)
    return train_loader, test_loader
