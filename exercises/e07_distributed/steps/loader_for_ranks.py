"""A loader for ranks: `DistributedSampler`.

Return a DataLoader that gives this rank its share of a shuffled data set, in batches of `batch_size`. The
order depends on `epoch`: each epoch has another one.

    dataset = [10, 11, 12, 13, 14, 15, 16, 17]
    list(loader_for_ranks(dataset, 2, epoch=0))
    # rank 0: [14, 17], [12, 11]    rank 1: [10, 13], [15, 16]; other rows in
    # epoch 1

New here: `sampler = DistributedSampler(dataset)` shuffles by the number of the epoch, which it learns from
`sampler.set_epoch(epoch)`, and picks the rows of this rank. `DataLoader(dataset, ..., sampler=sampler)` uses it, without
`shuffle`.
"""

from torch.utils.data import DataLoader, Dataset, DistributedSampler


def loader_for_ranks(dataset: Dataset, batch_size: int, epoch: int) -> DataLoader:
    raise NotImplementedError
