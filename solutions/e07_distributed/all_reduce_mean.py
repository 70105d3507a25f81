from dataclasses import dataclass
from typing import Protocol

import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor


class Handle(Protocol):
    def wait(self) -> Tensor: ...


@dataclass
class _UnderWay:
    work: dist.Work | None
    total: Tensor
    ranks: int
    dtype: torch.dtype

    def wait(self) -> Tensor:
        if self.work is not None:
            self.work.wait()
        return (self.total / self.ranks).to(self.dtype)


def all_reduce_mean(
    tensor: Shaped[Tensor, "*shape"], group: dist.ProcessGroup | None = None, async_op: bool = False
) -> Shaped[Tensor, "*shape"] | Handle:
    is_floating = tensor.is_floating_point()
    wide = torch.promote_types(tensor.dtype, torch.float32) if is_floating else torch.int64
    # all_reduce wants one layout on all ranks, and writes: a contiguous copy
    total = tensor.detach().to(wide, copy=True, memory_format=torch.contiguous_format)  # (*shape)
    work = dist.all_reduce(total, group=group, async_op=True)
    dtype = tensor.dtype if is_floating else torch.get_default_dtype()
    handle = _UnderWay(work, total, dist.get_world_size(group), dtype)
    return handle if async_op else handle.wait()
