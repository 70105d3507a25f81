from collections.abc import Iterator

import torch
from torch.utils.data import Sampler


class ShardSampler(Sampler[int]):
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
        return self.length // self.ranks if self.drop_last else -(-self.length // self.ranks)

    def __iter__(self) -> Iterator[int]:
        order = list(range(self.length))
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(self.length, generator=generator).tolist()
        total = len(self) * self.ranks
        # A place past the end is filled with the beginning; below total, so nothing is read for length 0.
        return iter([order[place % self.length] for place in range(self.rank, total, self.ranks)])

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch
