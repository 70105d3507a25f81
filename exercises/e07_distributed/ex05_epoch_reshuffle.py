"""Another order in every epoch, the same for all ranks, and after a restart the one that would have come.

The code below trains on several ranks, each with its share of the data. It runs, and every epoch uses every
example. But a log of the examples shows the same batches in every epoch; and a run that was stopped, and goes
on from the checkpoint of epoch 3, starts with those of epoch 0 once more:

    # 6 examples, 2 ranks, batches of 2: what a rank trains on in epochs 0 and 1
    run_epochs(dataset, train_batch, batch_size=2, epochs=2)
    # now      rank 0: [4, 1], [0]; [4, 1], [0]    rank 1: [2, 5], [3]; [2, 5], [3]
    # wanted   rank 0: [4, 1], [0]; [3, 0], [2]    rank 1: [2, 5], [3]; [1, 4], [5]    (or any other order)

Rules:
- Every rank has joined the default process group, and calls run_epochs with the same arguments.
- The epochs are numbered from first_epoch to epochs - 1. In each, `train_batch(epoch, batch)` is called for
  this rank's batches, as a DataLoader collates them: batch_size examples, the last one perhaps fewer.
- In each epoch every example goes to one rank, and all ranks get equally many. Where the number of ranks does
  not divide that of examples, as few as possible come twice, and none more often; none is left out. If there
  are more ranks than examples, they come as often as it takes: each rank gets one.
- In each epoch the whole data set is shuffled before it is shared out: not only the order is another one than
  in other epochs, each rank gets other examples as well.
- The order follows from `seed` and the number of the epoch alone: not from the global random streams, which
  differ between the ranks and must not be seeded here (dropout draws from them), nor from `hash` of a text,
  which differs between processes, nor from the epochs before. So a run with first_epoch=3 does in epoch 3
  what a run from the start does. With another seed the order is another one.
- A rank reads the examples that it trains on, and no others.
"""

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
    """Give this rank its batches of each epoch.

    Args:
        dataset: the examples of all ranks, by index, with a length.
        train_batch: gets the number of the epoch and a batch.
        batch_size: examples in a batch, on each rank.
        epochs: how many epochs the whole training has.
        first_epoch: where to start: 0, or where a checkpoint was written.
        seed: picks the orders.
    """
    sampler = DistributedSampler(dataset, shuffle=True, seed=seed)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    for epoch in range(first_epoch, epochs):
        for batch in loader:
            train_batch(epoch, batch)
