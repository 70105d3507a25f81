import os
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor


class EpochSampler:
    def __init__(self, size: int, batch: int, seed: int) -> None:
        self.size, self.batch = size, batch
        self.generator = torch.Generator().manual_seed(seed)
        self.order, self.place = torch.empty(0, dtype=torch.int64), 0

    def __next__(self) -> Int[Tensor, " rows"]:
        if self.place >= len(self.order):
            self.order, self.place = torch.randperm(self.size, generator=self.generator), 0
        rows = self.order[self.place : self.place + self.batch]  # (rows,)
        self.place += self.batch
        return rows

    def state_dict(self) -> dict[str, Any]:
        return {"order": self.order.clone(), "place": self.place, "stream": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.order, self.place = state["order"].clone(), state["place"]
        self.generator.set_state(state["stream"])


def _random_states() -> dict[str, Any]:
    name, keys, place, has_gauss, gauss = np.random.get_state()  # keys is an array: a list is safe
    return {
        "python": random.getstate(),
        "numpy": (name, keys.tolist(), place, has_gauss, gauss),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def save_checkpoint(path: str | Path, things: Mapping[str, Any], step: int) -> None:
    states = {name: thing.state_dict() for name, thing in things.items()}
    with tempfile.TemporaryDirectory(dir=Path(path).absolute().parent) as folder:
        new = Path(folder) / "new"
        torch.save({"step": step, "states": states, "random": _random_states()}, new)
        os.replace(new, path)  # noqa: PTH105


def load_checkpoint(path: str | Path, things: Mapping[str, Any]) -> int:
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
