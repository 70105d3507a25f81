"""A stream of examples, split among the workers of a loader and the ranks of a training run.

Examples come from shards: files that are read from start to end, too large to be held in memory. With
`num_workers=4` an epoch takes four times as long, the loss goes down faster than it should, and a count of
what comes out of the loader shows why: every example comes four times.

    def read(shard):                  # opens a shard, and yields its examples one by one
        yield from (f"{shard}{i}" for i in range(3))

    data = ShardedDataset(["a", "b", "c", "d", "e"], read)
    list(data)                                            # a0, a1, a2, b0, … e2: 15 examples in order
    list(DataLoader(data, None, num_workers=2))           # the same 15 in another order, each once
    first = ShardedDataset(["a", "b", "c", "d", "e"], read, rank=0, world_size=2)
    second = ShardedDataset(["a", "b", "c", "d", "e"], read, rank=1, world_size=2)
    # the loaders of the two, on two machines and with workers of their own, share the 15 among them

Rules:
- A reader is one worker of one rank, or the rank itself where its loader has no workers. All ranks have
  equally many. In an epoch each shard is read exactly once, whole, by one of all these readers, and a reader
  opens no shard but its own. It reads them one by one, in the order of `shards`, each from start to end.
- The work is even: no reader has more than one shard more than another. There may be fewer shards than
  readers, or none; a reader without any yields nothing. A name that is listed twice is two shards.
- Examples are passed on as read yields them, whatever they are, None too. read may return any iterable.
  How many there are is known once they are read: the dataset has no `len`.
- Nothing is read ahead: a shard is opened when its first example is wanted, and may even be endless.
- Each `iter` starts an epoch anew: in workers that stay (`persistent_workers=True`), for another loader with
  another number of workers, or while another `iter` of the same dataset is not at its end yet.
- An error from read reaches the loop over the loader, from a worker too.
- A dataset can be pickled where its shards and read can; workers may be forked or spawned.

ValueError if rank is not among 0 … world_size − 1.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch.utils.data import IterableDataset, get_worker_info


class ShardedDataset(IterableDataset):
    """The examples of shards, each for one reader."""

    def __init__(
        self,
        shards: Sequence[Any],
        read: Callable[[Any], Iterable[Any]],
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        """Share the work.

        Args:
            shards: what `read` takes: names of files, for instance.
            read: opens a shard and yields its examples.
            rank: the number of this training process.
            world_size: how many training processes there are.

        Raises:
            ValueError: rank is not from 0 to world_size - 1.
        """
        if not 0 <= rank < world_size:
            raise ValueError(f"there is no rank {rank} of {world_size}")
        self.shards = shards
        self.read = read
        self.rank = rank
        self.world_size = world_size

    def __iter__(self) -> Iterator[Any]:
        """The examples of this reader's shards, for one epoch."""
        worker = get_worker_info()  # None where no worker runs this; in a worker, its own number
        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
        reader = self.rank * workers + number
        for shard in self.shards[reader :: self.world_size * workers]:
            yield from self.read(shard)
