"""What ranks tell one another. All ranks of the group call each of these functions together."""

from collections.abc import Mapping
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn


@torch.no_grad()
def share(model: nn.Module) -> None:
    """Give all ranks the parameters and buffers of rank 0."""
    for tensor in (*model.parameters(), *model.buffers()):
        dist.broadcast(tensor, src=0)


def average_gradients(model: nn.Module) -> None:
    """Put the mean over ranks in the place of each gradient."""
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()


@torch.no_grad()
def average_statistics(model: nn.Module) -> None:
    """Put the mean over ranks in the place of each buffer of floats: the running statistics."""
    for buffer in model.buffers():
        if buffer.is_floating_point():
            dist.all_reduce(buffer)
            buffer /= dist.get_world_size()


def total(counts: Mapping[str, int]) -> dict[str, int]:
    """The sums over ranks of counts by name; all ranks have the same names."""
    sums = {}
    for name in sorted(counts):
        count = torch.tensor(counts[name])
        dist.all_reduce(count)
        sums[name] = int(count)
    return sums


def save(model: nn.Module, path: str | Path) -> None:
    """Write the model's state_dict: when this returns, on any rank, the file is there."""
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()


def load(model: nn.Module, path: str | Path) -> None:
    """Load what `save` wrote."""
    model.load_state_dict(torch.load(path, weights_only=True))
