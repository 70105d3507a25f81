"""Go on after a crash as if nothing had happened: to the last bit.

A machine may go away at any moment. A run that goes on from its last checkpoint must end with the weights of one that
was never disturbed, dropout and shuffling included:

    sampler = EpochSampler(size=5, batch=2, seed=0)
    things = {"model": model, "optimizer": optimizer, "schedule": schedule, "sampler": sampler}
    step = load_checkpoint("run.pt", things) if Path("run.pt").exists() else 0
    while step < 1000:
        rows = next(sampler)         # say tensor([4, 1]), tensor([0, 2]), tensor([3]), then the next epoch
        ...                          # dropout, backward, optimizer.step(), schedule.step()
        step += 1
        if step % 50 == 0:
            save_checkpoint("run.pt", things, step)

- EpochSampler never ends. Each epoch is a new random order of the rows, in pieces of `batch`, the last one shorter.
- One that loads another's state_dict goes on as that one, in the middle of an epoch, too.
- A checkpoint holds the step, the state_dict of each thing, and the state of torch's random stream (on the CPU).
- load_checkpoint gives all of it back, and returns the step.

Fine print:
- The streams of Python's `random`, of NumPy and of CUDA devices, where there are some, are kept as well.
- EpochSampler draws from a stream of its own, which `seed` decides, and leaves the global ones alone.
- Saving is atomic: if it fails half-way, the old checkpoint is still there in full. So write to another file in the same
  folder, then `os.replace`. Whether it fails or not, no other file is left.
- A checkpoint may come from a stranger. Reading it runs no code: with `weights_only=True`, `torch.load` raises
  pickle.UnpicklingError.
- KeyError where the names of things are not those in the checkpoint. Nothing has changed then.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxtyping import Int
from torch import Tensor


class EpochSampler:
    """Batches of row numbers without end, each epoch in a new order."""

    def __init__(self, size: int, batch: int, seed: int) -> None:
        """Shuffle `size` rows into batches of `batch`."""
        raise NotImplementedError

    def __next__(self) -> Int[Tensor, " rows"]:
        """The next row numbers, int64; this is what `next(sampler)` calls."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """All that decides the batches to come."""
        raise NotImplementedError

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where the sampler was whose `state_dict` this is."""
        raise NotImplementedError


def save_checkpoint(path: str | Path, things: Mapping[str, Any], step: int) -> None:
    """Write the state of everything to `path`, a new file or the old one."""
    raise NotImplementedError


def load_checkpoint(path: str | Path, things: Mapping[str, Any]) -> int:
    """Put everything back to where it was when `path` was written; return the step."""
    raise NotImplementedError
