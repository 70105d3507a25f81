from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def save_checkpoint(path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    error = None
    if dist.get_rank() == 0:
        try:
            state = {"model": _bare(model).state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            _write(Path(path), state)
        except Exception as caught:
            error = caught
    told = [error and repr(error)]
    dist.broadcast_object_list(told, src=0)  # good or bad news from rank 0, for which the others wait here
    if error is not None:
        raise error
    if told[0] is not None:
        raise RuntimeError(f"rank 0 could not write {path}: {told[0]}")


def _write(path: Path, checkpoint: dict) -> None:
    draft = path.with_name(path.name + ".draft")
    try:
        torch.save(checkpoint, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _bare(model: nn.Module) -> nn.Module:
    return model.module if isinstance(model, DistributedDataParallel) else model


def load_checkpoint(path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)  # load_state_dict moves it on
    _bare(model).load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    dist.barrier()  # the next save must not come before the last reader
    return checkpoint["step"]
