"""Checkpoints of a run on many ranks: one writer, and nobody goes on before it is done.

All ranks share a disk. If all of them write run.pt, it holds a mixture; if a rank does not wait for the
writer, it reads the old file or half a file; if the writer fails, the others wait for it for ever.

    # on every rank; model is DDP around Linear(1, 1, bias=False), with the weight 2.0
    save_checkpoint("run.pt", model, optimizer, step=100)
    torch.load("run.pt")     # {"model": {"weight": [[2.0]]}, "optimizer": {…}, "step": 100}
    # later, perhaps on another machine with another number of ranks, also on every rank
    load_checkpoint("run.pt", model, optimizer)     # 100

Rules:
- The ranks (any number, also one) have joined the default process group (gloo). All of them call the same
  function at the same time, with the same path (a str or a Path) and step. The folder is theirs alone.
- A checkpoint is a dict with the keys "model" and "optimizer" (what their state_dicts say) and "step" (an
  int), written by `torch.save`. When it is saved, and when it is loaded, the model may be wrapped in
  DistributedDataParallel or not: names in the file are those of the bare module, without "module." (unless
  the bare module has a submodule of this name).
- Ranks can differ, in the statistics of a batch norm for example: rank 0's state is saved. Saving changes no
  rank's state, and no mode (train or eval). Only rank 0, the first of all ranks on all machines, writes,
  renames or removes files.
- When save_checkpoint returns, on whichever rank, `path` holds the new checkpoint in full.
- At every moment `path` holds the old checkpoint or the new one in full, also if rank 0 is killed while
  it writes. So write another file in the same folder first, then `os.replace` it.
- If saving fails on rank 0 (full disk, missing folder, a path that is a folder, a state_dict that raises,
  state that cannot be pickled), every rank raises: rank 0 the error itself, the others RuntimeError. The
  ranks can then save again. Once save_checkpoint has returned or raised, the other file is closed and gone;
  one that a killed process has left is no obstacle.
- load_checkpoint gives every rank the state in the file, in the model and in the optimizer, on the model's
  device, and changes nothing else: not `.grad`, not the modes (train or eval). Tensors that were saved from a
  device that this machine lacks (say "cuda:7") are no obstacle.
- When load_checkpoint returns, on whichever rank, all ranks have read the file: it may be replaced.
- If there is no file, load_checkpoint raises FileNotFoundError on every rank.
"""

from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def save_checkpoint(path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write what rank 0 has to `path`, and return on every rank when it is there.

    Args:
        path: the file to make or to replace.
        model: the model, bare or in DistributedDataParallel.
        optimizer: holds the model's parameters.
        step: the number of steps done.

    Raises:
        RuntimeError: rank 0 could not write, and raises the error itself.
    """
    error = None
    if dist.get_rank() == 0:
        try:
            state = _plain(optimizer.state_dict())
            _write(Path(path), {"model": _bare(model).state_dict(), "optimizer": state, "step": step})
        except Exception as caught:
            error = caught
    told = [error and repr(error)]
    dist.broadcast_object_list(told, src=0)  # good or bad news from rank 0, for which the others wait here
    if error is not None:
        raise error
    if told[0] is not None:
        raise RuntimeError(f"rank 0 could not write {path}: {told[0]}")


def _write(path: Path, checkpoint: dict) -> None:
    """Write the file in one go: under another name first."""
    draft = path.with_name(path.name + ".draft")
    try:
        torch.save(checkpoint, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _plain(state: object) -> object:
    """Without NumPy's numbers, which torch.load refuses, and a schedule of one's own may have put there."""
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(map(_plain, state))
    return state.item() if isinstance(state, np.generic) else state


def _bare(model: nn.Module) -> nn.Module:
    return model.module if isinstance(model, DistributedDataParallel) else model


def load_checkpoint(path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Put model and optimizer on every rank to where rank 0 was when `path` was written.

    Args:
        path: the file that `save_checkpoint` wrote.
        model: the model, bare or in DistributedDataParallel.
        optimizer: holds the model's parameters.

    Returns:
        The number of steps done.

    Raises:
        FileNotFoundError: there is no such file.
    """
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)  # load_state_dict moves it on
    _bare(model).load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    dist.barrier()  # the next save must not come before the last reader
    return checkpoint["step"]
