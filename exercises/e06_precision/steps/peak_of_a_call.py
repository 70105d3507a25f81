"""The peak of a call: how much GPU memory did it take?

Call fn once, without arguments. Return what it returns, and how many bytes of GPU memory it took at its peak,
beyond what was taken before. Without a GPU, None stands in place of the bytes.

    x = torch.ones(1000, device="cuda")
    peak_of_a_call(lambda: (x + 1).sum())
    # (tensor(2000.), 4608): 4000 bytes for x + 1, and rounding up

New here: `torch.cuda.is_available()`; `torch.cuda.memory_allocated()` returns the bytes taken now,
`torch.cuda.max_memory_allocated()` the peak since `torch.cuda.reset_peak_memory_stats()`: reset first, then
call fn.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def peak_of_a_call(fn: Callable[[], Tensor]) -> tuple[Tensor, int | None]:
    raise NotImplementedError
