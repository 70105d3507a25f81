"""Checkpoints in a folder, one file each, and the random streams that belong to them."""

import os
import random
from pathlib import Path
from typing import Any

import torch


def numbered(folder: str | Path) -> list[Path]:
    """The checkpoints in a folder, the oldest first."""
    return sorted(Path(folder).glob("batch_*.pt"))


def latest(folder: str | Path) -> Path | None:
    """The newest checkpoint in a folder; None if there is none."""
    found = numbered(folder)
    return found[-1] if found else None


def save(state: dict[str, Any], folder: str | Path, keep: int = 3) -> Path:
    """Write the state of a run to `batch_<number>.pt`, and keep no more than the newest ones."""
    path = Path(folder) / f"batch_{state['batches']}.pt"
    beside = path.with_suffix(".part")
    torch.save(state, beside)
    os.replace(beside, path)  # noqa: PTH105
    for old in numbered(folder)[:-keep]:
        old.unlink()
    return path


def load(path: str | Path) -> dict[str, Any]:
    """The state of a run, on the CPU."""
    return torch.load(path, map_location="cpu", weights_only=True)


def streams() -> dict[str, Any]:
    """Where the random streams are."""
    return {"torch": torch.initial_seed(), "python": random.getstate()}


def set_streams(state: dict[str, Any]) -> None:
    """Put the random streams to where they were."""
    torch.manual_seed(state["torch"])
    random.setstate(state["python"])
