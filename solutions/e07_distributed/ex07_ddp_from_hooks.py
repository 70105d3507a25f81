"""DistributedDataParallel from hooks: gradients travel while the backward still runs.

Data-parallel training needs two things: copies that start alike, and gradients averaged over the ranks before
each step. Sent after the backward, the network idles during the backward and the processor after it. Sent
from a hook on each parameter, the moment its gradient is complete (`register_post_accumulate_grad_hook`) and
without waiting (`async_op=True`), most messages are over when the backward is.

    # rank 0 has module = Linear(1, 1, bias=False) with the weight 2.0, rank 1 with the weight 5.0
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    model = DataParallelModel(module)       # the weight is 2.0 on both
    loss = model(inputs).sum()              # inputs [[1.]] on rank 0, [[3.]] on rank 1
    loss.backward()                         # gradients of 1.0 and of 3.0 set out
    model.finish_gradients()                # both ranks have the gradient 2.0
    optimizer.step()                        # both ranks have the weight 1.8

Rules:
- All ranks (any number of them, also one) have joined the default process group (gloo) and wrap modules of
  the same structure. Write it with collectives, without PyTorch's own DistributedDataParallel.
- Wrapping copies all parameters and buffers of rank 0 to the other ranks, those that are frozen (without
  requires_grad), those of integers and those that are not contiguous too (gloo's `broadcast` takes memory
  as it lies). Parameters and buffers remain the same objects, and modes (train or eval) as they are.
- The module is the attribute `module`. Calling the model calls it, with whatever positional and keyword
  arguments, and returns what it returns. It sends nothing.
- During the backward, a parameter's gradient sets out as soon as it is complete, before the backward of the
  layers that come earlier in the model. The backward waits for no other rank.
- When finish_gradients returns, every parameter's `.grad`, contiguous or not, is the average of the ranks'
  gradients, in the dtype of the parameter. It waits for the messages of this rank, and for nothing else.
- One step costs one all_reduce for each parameter that got a gradient, of its size, and no other message. A
  parameter that is used in several places (tied) is one parameter. One that is frozen, or that the loss
  depends on on no rank, costs none, and its `.grad` stays None.
- A step is: zero_grad (to None or to zeros), forward (perhaps several times), one backward,
  finish_gradients, `optimizer.step`. The optimizer may be older than the wrapper.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


class DataParallelModel(nn.Module):
    """A module whose gradients are averaged over the ranks, parameter by parameter, during the backward."""

    def __init__(self, module: nn.Module) -> None:
        """Make all ranks' copies of `module` alike, and have its gradients sent from now on."""
        super().__init__()
        self.module = module
        self._in_flight: list[tuple[Tensor, dist.Work]] = []
        with torch.no_grad():
            for tensor in (*module.parameters(), *module.buffers()):
                whole = tensor.contiguous()  # what lies between the numbers of a column must not travel
                dist.broadcast(whole.view(-1).view(torch.uint8), src=0)  # gloo knows not every dtype
                tensor.copy_(whole)  # in place: optimizers go on holding the same tensors
        for p in module.parameters():  # each once, tied or not
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self._send)

    def _send(self, p: Tensor) -> None:
        """Set out the sum over the ranks. All of them call this in the same order."""
        p.grad = p.grad.contiguous()  # all_reduce takes memory as it lies, too
        work = dist.all_reduce(p.grad, async_op=True)
        self._in_flight.append((p.grad, work))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*args, **kwargs)

    def finish_gradients(self) -> None:
        """Wait until `.grad` of every parameter is the average over the ranks."""
        for grad, work in self._in_flight:
            work.wait()
            grad /= dist.get_world_size()  # not before: the sum is still being made
        self._in_flight.clear()
