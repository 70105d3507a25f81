from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch.utils.data import IterableDataset, get_worker_info


class ShardedDataset(IterableDataset):
    def __init__(
        self,
        shards: Sequence[Any],
        read: Callable[[Any], Iterable[Any]],
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        if not 0 <= rank < world_size:
            raise ValueError(f"there is no rank {rank} of {world_size}")
        self.shards = shards
        self.read = read
        self.rank = rank
        self.world_size = world_size

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()  # None where no worker runs this; in a worker, its own number
        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
        reader = self.rank * workers + number
        for shard in self.shards[reader :: self.world_size * workers]:
            yield from self.read(shard)
