import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from jaxtyping import Int
from torch import Tensor
from torch.utils.data import Sampler


class BucketBatches(Sampler[list[int]]):
    def __init__(
        self, lengths: Sequence[int] | Int[Tensor, "sequences"], batch_size: int, width: int, seed: int = 0
    ) -> None:
        if batch_size < 1 or width < 1:
            raise ValueError(f"batch_size and width must be 1 or more, not {batch_size} and {width}")
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = 0
        buckets = defaultdict(list)
        for index, length in enumerate(lengths):
            buckets[int(length) // width].append(index)
        self.buckets = list(buckets.values())

    def __len__(self) -> int:
        return sum(-(-len(bucket) // self.batch_size) for bucket in self.buckets)

    def __iter__(self) -> Iterator[list[int]]:
        draw = random.Random(f"{self.seed} {self.epoch}")  # a text is hashed: no sum that collides
        batches = []
        for bucket in self.buckets:
            order = draw.sample(bucket, len(bucket))
            batches += [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        draw.shuffle(batches)
        return iter(batches)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch
