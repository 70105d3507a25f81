"""Shards for ranks: which examples each process of a data-parallel training reads, epoch by epoch.

Several processes, the ranks, each train on a part of the data, in equally many steps. Deal the indices out as torch's
`DistributedSampler` does, without it:

    list(ShardSampler(5, ranks=2, rank=0, shuffle=False))    # [0, 2, 4]
    list(ShardSampler(5, ranks=2, rank=1, shuffle=False))    # [1, 3, 0]: filled up with the first
    list(ShardSampler(5, ranks=2, rank=1, shuffle=False, drop_last=True))    # [1, 3], and rank 0 has [0, 2]

- The order is 0, 1, 2, … or, with shuffle, `torch.randperm(length, generator=g)`, where g is a new generator of the
  seed `seed + epoch`: the same on all ranks. The epoch is 0 until `set_epoch` says another.
- Then it is filled up to the next multiple of `ranks` with its own beginning; with drop_last its end is cut off instead.
- Of that, rank r takes every ranks-th index, beginning with the r-th. `len` counts them.

Fine print:
- An order that is shorter than what is lacking is filled up over and over. A length of 0 gives no indices.
- Indices are plain Python ints. `len` is the same before, during and after an iteration.
- Two iterators do not disturb one another, and one that has begun goes on as it was when the epoch changes.
- torch's global random stream is neither drawn from nor seeded, not even for a while.
- ValueError if ranks is below 1, length below 0, or rank is none of 0 … ranks - 1.
"""

from collections.abc import Iterator

from torch.utils.data import Sampler


class ShardSampler(Sampler[int]):
    """The indices that one rank reads in an epoch."""

    def __init__(
        self,
        length: int,
        ranks: int,
        rank: int,
        *,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        """Begin with epoch 0. `length` counts the examples, `ranks` the processes; this one is `rank`, from 0."""
        raise NotImplementedError

    def __len__(self) -> int:
        """The number of indices that this rank reads in an epoch."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[int]:
        """The indices of this rank, in the order of the epoch."""
        raise NotImplementedError

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch, from 0, that the next iterators are for."""
        raise NotImplementedError
