"""Go on after a crash as if nothing had happened: to the last bit.

A machine may go away at any moment. A run that saves a checkpoint every few steps and goes on from the last
one must end with the weights of a run that was never disturbed, bit for bit, dropout and shuffling included:

    sampler = EpochSampler(size=5, batch=2, seed=0)
    things = {"model": model, "optimizer": optimizer, "scaler": scaler, "sampler": sampler}
    step = load_checkpoint("run.pt", things) if Path("run.pt").exists() else 0
    while step < 1000:
        rows = next(sampler)         # say tensor([4, 1]), tensor([0, 2]), tensor([3]), then the next epoch
        ...                          # dropout, backward, scaler.step(optimizer), schedule.step()
        step += 1
        if step % 50 == 0:
            save_checkpoint("run.pt", things, step)

Rules:
- EpochSampler never ends. Each epoch is a new random order of the row numbers 0 to size - 1, cut into pieces
  of `batch` (int64); the last piece of an epoch may be shorter. It draws from a stream of its own, seeded
  with seed: the global ones are left alone, and the same seed gives the same batches. A sampler of the same
  size and batch that loads the state_dict of another, in the middle of an epoch too, goes on as that one
  does. A state_dict is a snapshot: it does not change when the sampler goes on.
- things maps names to objects with `state_dict` and `load_state_dict`. A checkpoint holds what all their
  state_dicts say, the step, and the state of the global random streams: Python's `random`, NumPy's
  (`np.random`), torch's on the CPU (and on CUDA devices, where there are some). Saving changes none of all
  this.
- load_checkpoint gives all of it back, draws nothing, and returns the step. It can be called again and
  again, also in another process, on objects that were used already.
- Saving is atomic: whenever it fails or the process is killed, `path` holds the old checkpoint in full or
  the new one in full. So write to another file in the same folder, see it to the disk (`os.fsync`), then
  `os.replace`. When save_checkpoint returns or raises, that other file is gone, and none is left open. One
  that a killed process has left is no obstacle. The folder exists; path is a str or a Path.
- A checkpoint may come from a stranger: reading it must not run code from it. With `weights_only=True`,
  `torch.load` raises pickle.UnpicklingError instead. It takes tensors, numbers, strings, lists, tuples and
  dicts.
- Nothing is changed where load_checkpoint raises: FileNotFoundError if there is no file, KeyError if the
  names of things are not exactly those in the checkpoint, pickle.UnpicklingError as above.
"""

import os
import random
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor


class EpochSampler:
    """Batches of row numbers without end, each epoch in a new order."""

    def __init__(self, size: int, batch: int, seed: int) -> None:
        """Shuffle `size` rows (1 or more) into batches of `batch` (1 or more), from the stream of `seed`."""
        self.size, self.batch = size, batch
        self.generator = torch.Generator().manual_seed(seed)
        self.order, self.place = torch.empty(0, dtype=torch.int64), 0

    def __iter__(self) -> Iterator[Int[Tensor, " rows"]]:
        """The sampler itself, where it is."""
        return self

    def __next__(self) -> Int[Tensor, " rows"]:
        """The next row numbers, (rows,) of int64."""
        if self.place >= len(self.order):
            self.order, self.place = torch.randperm(self.size, generator=self.generator), 0
        rows = self.order[self.place : self.place + self.batch].clone()
        self.place += self.batch
        return rows

    def state_dict(self) -> dict[str, Any]:
        """All that decides the batches to come."""
        return {"order": self.order.clone(), "place": self.place, "stream": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where the sampler was whose `state_dict` this is."""
        self.order, self.place = state["order"].clone(), state["place"]
        self.generator.set_state(state["stream"])


def _random_states() -> dict[str, Any]:
    """The global streams, in what `weights_only` can read."""
    name, keys, place, has_gauss, gauss = np.random.get_state()  # keys is an array: a list is safe
    return {
        "python": random.getstate(),
        "numpy": (name, keys.tolist(), place, has_gauss, gauss),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def save_checkpoint(path: str | Path, things: Mapping[str, Any], step: int) -> None:
    """Write the state of everything to `path`, in one go.

    Args:
        path: the file to make or to replace.
        things: objects with `state_dict`, by name.
        step: the number of steps done.
    """
    path = Path(path)
    states = {name: thing.state_dict() for name, thing in things.items()}
    number, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # a name of its own each time
    try:
        with os.fdopen(number, "wb") as file:
            torch.save({"step": step, "states": states, "random": _random_states()}, file)
            file.flush()
            os.fsync(file.fileno())  # else a power cut may leave the new name on an empty file
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink()
        raise


def load_checkpoint(path: str | Path, things: Mapping[str, Any]) -> int:
    """Put everything back to where it was when `path` was written.

    Args:
        path: the file that `save_checkpoint` wrote.
        things: objects with `load_state_dict`, under the names that they were saved with.

    Returns:
        The number of steps done.

    Raises:
        FileNotFoundError: there is no such file.
        KeyError: the names are not those in the file.
        pickle.UnpicklingError: reading the file would run code.
    """
    saved = torch.load(path, map_location="cpu", weights_only=True)
    if saved["states"].keys() != things.keys():
        raise KeyError(f"the checkpoint holds {sorted(saved['states'])}, not {sorted(things)}")
    for name, thing in things.items():
        thing.load_state_dict(saved["states"][name])
    streams = saved["random"]  # last: loading may draw
    random.setstate(streams["python"])
    np.random.set_state(streams["numpy"])
    torch.set_rng_state(streams["torch"])
    if streams["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(streams["cuda"])
    return int(saved["step"])
