"""The mean over all ranks, of a loss, a gradient or a count; at once, or while something else is computed.

Every rank has a tensor of the same shape and dtype, and wants the mean of all of them. The sum is one call of
`dist.all_reduce`. What is left: it writes into its input, float16 overflows although the mean would fit, and
integers can hold neither the mean nor, in uint8, the sum.

    # rank 0 has x = torch.tensor([1, 4]), rank 1 has x = torch.tensor([2, 6])
    all_reduce_mean(x)                          # tensor([1.5000, 5.0000]) on both
    handle = all_reduce_mean(x, async_op=True)  # is back before the other ranks have come
    loss.backward()                             # meanwhile the numbers travel
    handle.wait()                               # tensor([1.5000, 5.0000])

Rules:
- The result is a new tensor without a graph, the same on every rank. The input stays as it is.
- Floating dtypes are kept. Sums over float16 and bfloat16 are made in float32 or wider, and only the mean is
  rounded back.
- Integers and booleans are summed exactly, in int64; their mean has torch's default dtype, as a quotient of
  integer tensors has. The mean of booleans is the share of the ranks that have True.
- Any number of dimensions, also none; any size, also 0; any strides, also those of a transposed or expanded
  tensor, and other ones on each rank.
- Only the ranks of `group` call, and the mean is over these. None is the default group. It may have one rank.
- With async_op=True the call starts the collective and returns without waiting for other ranks. It returns an
  object whose `wait()` waits for them and returns the mean, each time that it is called. Several may be under
  way, and be waited for in any order. The input may be changed as soon as the call has returned.
- A call costs one all-reduce, into which a rank hands at most 8 bytes for each number, and no other message.
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
    """The mean of the tensors that the ranks of a group have.

    Args:
        tensor: this rank's, real numbers or booleans, on the CPU.
        group: the ranks that take part, or None for all.
        async_op: whether to return at once.

    Returns:
        The mean, or with async_op an object whose `wait()` returns it.
    """
    raise NotImplementedError
