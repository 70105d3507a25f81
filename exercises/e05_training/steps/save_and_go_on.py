"""Stop today, go on tomorrow: `save(path, model, optimizer, epoch)` and `go_on(path, model, optimizer)`.

A checkpoint holds what going on needs: the weights, what the optimizer remembers of earlier steps, and the
epoch. `save` writes the three to a file; `go_on` loads them into another model and optimizer, and returns the
epoch.

    save("run.pt", model, optimizer, 7)
    go_on("run.pt", new_model, new_optimizer)
    # 7; both are now as the old ones were

New here: `torch.save(thing, path)` writes a dictionary, under keys of your choice, `torch.load(path)` reads
it. An optimizer has a `state_dict()` and a `load_state_dict(…)`, as a model has.
"""

from pathlib import Path

import torch
from torch import nn


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, epoch: int) -> None:
    raise NotImplementedError


def go_on(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    raise NotImplementedError
