"""The mean over all ranks, of a loss, a gradient or a count; at once, or while something else is computed.

Every rank has a tensor of the same shape and dtype, and wants the mean of all of them. `dist.all_reduce` makes
the sum; but it writes into what it gets, and integers hold no mean.

    # rank 0 has x = torch.tensor([1, 4]), rank 1 has x = torch.tensor([2, 6])
    all_reduce_mean(x)                          # tensor([1.5000, 5.0000]) on both
    handle = all_reduce_mean(x, async_op=True)  # is back before the other ranks have come
    loss.backward()                             # meanwhile the numbers travel
    handle.wait()                               # tensor([1.5000, 5.0000])

- The result is a new tensor, the same on every rank. x stays as it is.
- Floats keep their dtype. The mean of integers is float32.
- Only the ranks of `group` call, and the mean is over these. None is the default group.
- With async_op=True the call begins the sum and returns an object at once; its `wait()` returns the mean.

Fine print:
- float16 and bfloat16 are summed in float32, and only the mean is rounded; float64 stays float64.
- Integers and booleans are summed in int64, exactly; then comes the quotient. That of booleans is a share.
- Any strides, also other ones on each rank: all_reduce wants one layout. A tensor may be empty.
- The result has no graph.
- Several means may be under way, and be waited for in any order and twice; x may change after the call.
- A call costs one all_reduce of at most 8 bytes for each number, and no other message.
"""

from typing import Protocol

import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor


class Handle(Protocol):
    """A mean that is under way."""

    def wait(self) -> Tensor: ...


def all_reduce_mean(
    tensor: Shaped[Tensor, "*shape"], group: dist.ProcessGroup | None = None, async_op: bool = False
) -> Shaped[Tensor, "*shape"] | Handle:
    """The mean of the tensors that the ranks of a group have; with async_op, what waits for it."""
    raise NotImplementedError
