"""Checkpoints of a run on many ranks: one writes, and nobody goes on before it is done.

All ranks share a disk. If all write run.pt, it holds a mixture; a rank that does not wait reads half of one. Write
two functions that all ranks call together, with the same path and step.

    # on every rank; model is DDP around Linear(1, 1, bias=False), with the weight 2.0
    save_checkpoint("run.pt", model, optimizer, step=100)
    torch.load("run.pt").keys()                     # model, optimizer, step
    # later, in new processes, where the weight is 5.0
    load_checkpoint("run.pt", model, optimizer)     # 100, and the weight is 2.0 on every rank

- The file is a dict, written by `torch.save`: "model" and "optimizer" hold state dicts, "step" the number.
- Only rank 0 writes. Ranks can differ, say in the statistics of a batch norm: rank 0's are saved.
- When save_checkpoint returns, on any rank, the file is there in full.
- load_checkpoint gives model and optimizer of every rank the state in the file, and returns the step.

Fine print:
- Names in the file are those of the bare module, without the "module." that the DDP tutorial leaves in them: then a
  model outside of DDP can load them. Both functions take a model in DDP or without it, and a path as str or Path.
- `path` holds the old checkpoint or the new one in full, whenever rank 0 is killed. So write another file in the same
  folder, then `os.replace`. No other file stays.
- If saving fails on rank 0 (no such folder, state that cannot be pickled), it raises the error, all others
  RuntimeError. The old file stays, no other one does, and the ranks can save again.
- Tensors that were saved on a device which is not there ("cuda:7") are loaded to the model's.
- When load_checkpoint returns, on whichever rank, all ranks have read the file: it may be replaced.
- Without a file, load_checkpoint raises FileNotFoundError on every rank.
"""

from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def save_checkpoint(path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write what rank 0 has to `path`, and return on every rank when it is there."""
    raise NotImplementedError


def load_checkpoint(path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Give model and optimizer the state in the file, on every rank, and return the step."""
    raise NotImplementedError
