"""A stream of examples, split among the workers of a loader and the ranks of a training run.

Examples come from shards: files that are read from start to end, too large for memory. With `num_workers=4` an epoch
of the code below takes four times as long, and every example comes four times.

    def read(shard):                  # opens a shard, and yields its examples one by one
        yield from (f"{shard}{i}" for i in range(3))

    data = ShardedDataset(["a", "b", "c", "d", "e"], read)
    list(data)                                            # a0, a1, a2, b0, … e2: 15 examples in order
    list(DataLoader(data, None, num_workers=2))           # the same 15 in another order, each once
    first = ShardedDataset(["a", "b", "c", "d", "e"], read, rank=0, world_size=2)
    second = ShardedDataset(["a", "b", "c", "d", "e"], read, rank=1, world_size=2)
    # the loaders of the two, on two machines and with workers of their own, share the 15 among them

- A reader is one worker of one rank; where its loader has no workers, it is the rank. All ranks have equally many.
- In an epoch each shard is read once, whole, by one of all these readers; no other opens it.
- A reader reads its shards in the order of `shards`.
- Every `iter` begins an epoch anew, in workers that stay (`persistent_workers=True`), too.

Fine print:
- The work is even: no reader has more than one shard more than another. There may be fewer shards than readers.
- Examples are passed on as read gives them, None too; read may return any iterable. A name that is listed twice is two
  shards.
- Nothing is read ahead: a shard is opened when its first example is wanted, and may even be endless.
- Two `iter`s of one dataset that are under way at once do not disturb each other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch.utils.data import IterableDataset


class ShardedDataset(IterableDataset):
    """The examples of shards, each for one reader."""

    def __init__(
        self,
        shards: Sequence[Any],
        read: Callable[[Any], Iterable[Any]],
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        """`read` opens a shard and yields its examples; this process is `rank` of `world_size`, from 0."""
        if not 0 <= rank < world_size:
            raise ValueError(f"there is no rank {rank} of {world_size}")
        self.shards = shards
        self.read = read
        self.rank = rank
        self.world_size = world_size

    def __iter__(self) -> Iterator[Any]:
        """The examples of this reader's shards, for one epoch."""
        for shard in self.shards[self.rank :: self.world_size]:
            yield from self.read(shard)
