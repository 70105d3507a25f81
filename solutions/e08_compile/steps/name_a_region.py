from collections.abc import Callable

import torch
from torch import Tensor


def name_a_region(name: str, fn: Callable[[], Tensor]) -> Tensor:
    with torch.profiler.record_function(name):
        return fn()
