"""Shards for ranks: which examples each process of a data-parallel training reads, epoch by epoch.

Each of several ranks trains on a part of the data. All must take equally many steps, or those that have more
wait for ever; and all must shuffle alike, or examples come twice and others never. Write the sampler that
deals the indices out, as `torch.utils.data.DistributedSampler` does, by hand:

    list(ShardSampler(5, ranks=2, rank=0, shuffle=False))    # [0, 2, 4]
    list(ShardSampler(5, ranks=2, rank=1, shuffle=False))    # [1, 3, 0]: filled up with the first
    list(ShardSampler(5, ranks=2, rank=1, shuffle=False, drop_last=True))    # [1, 3], and rank 0 has [0, 2]

    sampler = ShardSampler(5, ranks=2, rank=0, seed=7)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)    # without it, every epoch has the order of epoch 0
        for batch in loader: ...

Rules:
- The order is that of all indices, the same on all ranks: 0, 1, 2, … without shuffle, else
  `torch.randperm(length, generator=g)`, where g is a new CPU generator with the seed `seed + epoch`.
- Where the length is no multiple of `ranks`, the order is filled up to the next multiple with its own
  beginning, over and over where it is shorter than what is lacking; with drop_last its end is cut off in
  place of that. A length of 0 has nothing to fill up with, and no indices at all.
- Of what is then there, rank r takes every ranks-th index, beginning with the r-th.
- `len` is the number of indices that iterating gives, known before it does: the same on every rank.
- Iterating gives plain Python ints. It can be done again, and by two iterators at once, with the same result:
  only set_epoch changes the order, beginning with the next iterator. One that has given its first index
  goes on as it was.
- torch's global random stream is neither drawn from nor seeded. Samplers do not depend on one another.
- ValueError if ranks is below 1, length below 0, or rank is none of 0 … ranks - 1.

Use neither `DistributedSampler` nor a subclass of it. No process group is needed: the ranks are given.
"""

from collections.abc import Iterator

import torch
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
        """Begin with epoch 0.

        Args:
            length: the number of examples in the data set, from 0.
            ranks: how many processes train, from 1.
            rank: which of them this is, from 0.
            shuffle: whether each epoch has an order of its own.
            seed: where the orders come from, from 0; the same on all ranks.
            drop_last: whether to leave examples out where others fill up.

        Raises:
            ValueError: there is no such rank, or no such length.
        """
        if length < 0:
            raise ValueError(f"length must be 0 or more, not {length}")
        if not 0 <= rank < ranks:
            raise ValueError(f"rank must be from 0 to {ranks - 1}, not {rank}")
        self.length = length
        self.ranks = ranks
        self.rank = rank
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0

    def __len__(self) -> int:
        """The number of indices that this rank reads in an epoch."""
        return self.length // self.ranks if self.drop_last else -(-self.length // self.ranks)

    def __iter__(self) -> Iterator[int]:
        """The indices of this rank, in the order of the epoch."""
        order = list(range(self.length))
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(self.length, generator=generator).tolist()
        total = len(self) * self.ranks
        # A place past the end is filled with the beginning; below total, so nothing is read for length 0.
        return iter([order[place % self.length] for place in range(self.rank, total, self.ranks)])

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch, from 0, that the next iterators are for."""
        self.epoch = epoch
