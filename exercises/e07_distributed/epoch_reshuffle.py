"""Another order in every epoch, the same for all ranks, and after a restart the one that would have come.

The code below trains on several ranks. It runs, but every epoch has the same batches, and so has a run that
goes on from a checkpoint. Repair it.

    # 6 examples, 2 ranks, batches of 2: what a rank trains on in epochs 0 and 1
    run_epochs(dataset, train_batch, batch_size=2, epochs=2)
    # now      rank 0: [4, 1], [0]; [4, 1], [0]    rank 1: [2, 5], [3]; [2, 5], [3]
    # wanted   rank 0: [4, 1], [0]; [3, 0], [2]    rank 1: [2, 5], [3]; [1, 4], [5]    (or any other order)

- The epochs go from first_epoch to epochs - 1; in each, `train_batch(epoch, batch)` gets this rank's batches.
- In each epoch every example goes to one rank, and all ranks get equally many.
- Each epoch shuffles the whole data set anew: a rank gets other examples, too.
- A run with first_epoch=3 does in epoch 3 what a run from the start does.
- With another seed the order is another one.

Fine print:
- Where the number of ranks does not divide that of examples, as few as possible come twice, none more often;
  with more ranks than examples, each rank gets one. None is left out.
- The order follows from seed and epoch alone, not from batch_size, the global random streams or `hash`.
- The global random streams are not seeded: dropout draws from them.
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
    """Give this rank its batches of each epoch, from first_epoch on."""
    sampler = DistributedSampler(dataset, shuffle=True, seed=seed)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    for epoch in range(first_epoch, epochs):
        for batch in loader:
            train_batch(epoch, batch)
