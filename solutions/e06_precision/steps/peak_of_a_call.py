from collections.abc import Callable

import torch
from torch import Tensor


def peak_of_a_call(fn: Callable[[], Tensor]) -> tuple[Tensor, int | None]:
    if not torch.cuda.is_available():
        return fn(), None
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = fn()
    return result, torch.cuda.max_memory_allocated() - before
