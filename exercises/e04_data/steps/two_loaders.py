"""Two loaders: `shuffle` and `drop_last`.

To train, a model should see the rows in a new order each time, in batches of one size. Return two loaders:
one for train, and one for test, without shuffle and drop_last: all rows, in order.

    two_loaders(train, test, batch_size=4)
    # train has 10 rows, test has 6
    # the first gives 2 batches of 4, in a new order each time; the second
    # batches of 4 and 2

New here: `DataLoader(dataset, batch_size=4, shuffle=True, drop_last=True)` draws an order each time it is
gone through, and drops a last batch that is too short. (`num_workers=2` would load in two processes; leave it
out.)
"""

from torch.utils.data import DataLoader, Dataset


def two_loaders(train: Dataset, test: Dataset, batch_size: int) -> tuple[DataLoader, DataLoader]:
    raise NotImplementedError
