"""DistributedDataParallel from hooks: gradients travel while the backward still runs.

Data-parallel training needs copies that start alike, and gradients averaged over the ranks before each step. Sent
after the backward, they leave the network idle during it. Write a wrapper that sends each gradient the moment it is
complete, without PyTorch's own DistributedDataParallel.

    # rank 0 has module = Linear(1, 1, bias=False) with the weight 2.0, rank 1 with the weight 5.0
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    model = DataParallelModel(module)       # the weight is 2.0 on both
    loss = model(inputs).sum()              # inputs [[1.]] on rank 0, [[3.]] on rank 1
    loss.backward()                         # gradients of 1.0 and of 3.0 set out
    model.finish_gradients()                # both ranks have the gradient 2.0
    optimizer.step()                        # both ranks have the weight 1.8

- Wrapping overwrites the parameters with those of rank 0, in place: the optimizer may hold them already.
- `p.register_post_accumulate_grad_hook(f)` has f called with p once `p.grad` is complete.
- The backward waits for no other rank: `dist.all_reduce(…, async_op=True)` returns a handle at once.
- finish_gradients waits; when it returns, each `.grad` is the mean over the ranks.
- Calling the model calls `module` with whatever arguments, and returns what it returns.

Fine print:
- Buffers become those of rank 0 as well, also those of integers and booleans.
- Tied parameters (one tensor in two places) count once. A parameter that is frozen (without requires_grad), or that
  the loss uses on no rank, keeps None in `.grad`.
- `zero_grad(set_to_none=False)` leaves zeros, and a parameter may be transposed in memory, with a gradient like it.
- A step costs one all_reduce for each parameter that got a gradient, of its size, and no other message.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


class DataParallelModel(nn.Module):
    """A module whose gradients are averaged over the ranks, parameter by parameter, during the backward."""

    def __init__(self, module: nn.Module) -> None:
        """Make all ranks' copies of `module` alike, and have its gradients sent from now on."""
        raise NotImplementedError

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        raise NotImplementedError

    def finish_gradients(self) -> None:
        """Wait until `.grad` of every parameter is the mean over the ranks."""
        raise NotImplementedError
