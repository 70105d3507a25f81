"""Settings of two loaders: one to learn from, one to be judged by.

The code below runs. But with 33 examples and batches of 8, training stops once in each epoch: "Expected more
than 1 value per channel when training". The accuracy is that of 96 test images, though there are 100. The
predictions, saved batch by batch, belong to other rows than those of the test file. And one more
`torch.randn` in the model, or one more evaluation, gives another training run, seed or no seed.

    train_loader, test_loader = make_loaders(list(range(9)), list(range(5)), batch_size=4, seed=1)
    list(train_loader)    # e.g. [tensor([8, 1, 0, 5]), tensor([4, 7, 2, 6])], next time in another order
    list(test_loader)     # [tensor([0, 1, 2, 3]), tensor([4])], each time

Rules:
- The test loader gives every example once, in the order of the dataset: batches of batch_size, and what is
  left in a shorter one. Without examples there are no batches.
- The training loader gives the examples in a new order in each epoch, all orders being equally likely, in
  batches of exactly batch_size. What is left after the last full batch is left out: in each epoch others. An
  epoch that was broken off, say after a look at one batch, is not begun again: the next has another order.
  Only if there are fewer examples than batch_size, there is one batch, of all of them.
- Two calls with the same seed give the same training batches, epoch by epoch; other seeds give others. What
  was drawn from the global stream, or seeded in it, has no part in that; nor has iterating the test loader,
  however often and when, or other loaders.
- Neither making loaders nor iterating them draws from torch's global random stream, or seeds it: weights and
  dropout belong to the model.
- Each loader reads with `workers` processes; 0 is none.
- Both are DataLoaders that batch as usual, and `len` of each is the number of its batches.

ValueError if batch_size is less than 1, or if there are no examples to train on.
"""

import torch
from torch.utils.data import DataLoader, Dataset


def make_loaders(
    train: Dataset, test: Dataset, batch_size: int, seed: int = 0, workers: int = 0
) -> tuple[DataLoader, DataLoader]:
    """Loaders for training and for testing.

    Args:
        train: examples to learn from; has a length and can be indexed.
        test: examples to be judged by, likewise.
        batch_size: examples in a batch.
        seed: decides the orders of training; 0 or more.
        workers: processes that each loader reads with.

    Returns:
        The training loader and the test loader.

    Raises:
        ValueError: batch_size is less than 1, or train is empty.
    """
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
