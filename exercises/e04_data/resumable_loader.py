"""A loader that goes on in the middle of an epoch, with the next batch.

A run over a large data set is interrupted in the middle of an epoch. What it reads next is to be what it would have read:

    loader = ResumableLoader(range(10), batch_size=4, seed=1)
    for batch in loader:                # [5, 6, 1, 2], [0, 8, 9, 3], [7, 4]: epoch 0
        state = loader.state_dict()     # say that the run ends after the first batch

    again = ResumableLoader(range(10), batch_size=4, seed=1)
    again.load_state_dict(state)
    for batch in again: ...             # [0, 8, 9, 3], [7, 4]
    for batch in again: ...             # all of epoch 1

- The order of an epoch, from 0, is `torch.randperm(len(dataset), generator=g)`, g a new generator with the seed
  `seed + epoch`. Batches are cut from it; the last may be short.
- A loop gives what is left of the epoch; the next loop begins the next epoch.
- The state counts what came out, also where workers have read ahead.
- More options are DataLoader's, such as `num_workers` and `collate_fn`.

Fine print:
- Items of batches that came out before the state was taken are not read again.
- A state of plain numbers, as json can write them, and it stays as it is while the loader goes on.
- Taken after the last batch, in the loop, it stands for the beginning of the next epoch.
- A loop that is left by `break` is gone on with by the next loop.
- torch's global random stream is neither drawn from nor seeded: a DataLoader draws a number whenever it begins, and a
  run that goes on begins once more. Its dropout would be another.
"""

from collections.abc import Iterator, Sequence
from typing import Any


class ResumableLoader:
    """Shuffled batches of a dataset, whose place in the epoch can be saved."""

    def __init__(self, dataset: Sequence[Any], batch_size: int, seed: int = 0, **options: Any) -> None:
        """`dataset` has a len, and items; `options` go to each DataLoader."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        """The batches that are left of the epoch."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is."""
        raise NotImplementedError

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where the loader was whose `state_dict` this is, of the same dataset, batch size and seed."""
        raise NotImplementedError
