"""Batches of like lengths: less padding, and still a random order.

Sentences of 3 and of 90 tokens in one batch make 87 places of padding. Sorted by length, the short ones all come first.
Buckets do neither: bucket k holds the indices whose length // width is k.

    sampler = BucketBatches([3, 90, 4, 91, 2, 5, 97], batch_size=2, width=10, seed=0)
    list(sampler)    # such as [[1, 6], [5, 0], [3], [2, 4]]
    len(sampler)     # 4
    loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=pad)

- All indices of a batch come from one bucket.
- Each index comes once in an epoch. Batches are full but for one in each bucket that may be shorter.
- In each epoch indices are shuffled within their bucket, then all batches among each other.
- The same seed and epoch give the same batches, other ones others. `set_epoch` says the epoch, 0 at first.
- `len` is the number of batches.

Fine print:
- An epoch that is iterated twice gives the same batches, and two iterators do not disturb each other.
- lengths is a list, an array or a tensor, and is left as it is. Without any there are no batches.
- Indices are plain Python ints, and batches lists.
- The global random streams of torch, NumPy and Python are neither drawn from nor seeded.
- Seed 0 in epoch 1 is not seed 1 in epoch 0.
- ValueError if batch_size or width is below 1.
"""

from collections.abc import Iterator, Sequence

from jaxtyping import Int
from torch import Tensor
from torch.utils.data import Sampler


class BucketBatches(Sampler[list[int]]):
    """Batches of indices of sequences whose lengths are alike."""

    def __init__(
        self, lengths: Sequence[int] | Int[Tensor, "sequences"], batch_size: int, width: int, seed: int = 0
    ) -> None:
        """`width` is the width of a bucket: lengths in it differ by less."""
        raise NotImplementedError

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of the epoch."""
        raise NotImplementedError

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch that the next iterators are for."""
        raise NotImplementedError
