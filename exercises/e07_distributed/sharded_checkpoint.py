"""A sharded checkpoint: written by some ranks, read by fewer or more.

A model is sharded over three ranks (`fully_shard`), and tomorrow there are two. Each rank writes its own shards; the ranks
that read take from the files whatever their own shards need. Write both with `torch.distributed.checkpoint`.

    save(model, optimizer, folder, step=7)    # on three ranks, after some steps
    load(model, optimizer, folder)            # 7, on two ranks: a new model and a new optimizer, sharded over two

    # weight [[1., 2.]], SGD with lr=0.1 and momentum=0.5, gradient [[1., 1.]] in every step
    # one step, save: [[0.9, 1.9]]; load elsewhere, one more step: [[0.75, 1.75]], as if nothing had been in between

- All ranks call. Afterwards model and optimizer are as they were when they were saved, momentum included.
- The number of ranks may be another one than when they were saved, also 1.

Fine print:
- Parameters do not travel between ranks, only to and from the files.
- The learning rate is saved too.
"""

from pathlib import Path

import torch
from torch import nn


def save(model: nn.Module, optimizer: torch.optim.Optimizer, folder: Path, step: int) -> None:
    """Write the model, its optimizer and the number of steps taken; each rank writes what it has."""
    raise NotImplementedError


def load(model: nn.Module, optimizer: torch.optim.Optimizer, folder: Path) -> int:
    """Read them into a model and an optimizer, sharded over any number of ranks; the number of steps."""
    raise NotImplementedError
