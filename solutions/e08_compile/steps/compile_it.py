from collections.abc import Callable

import torch
from torch import Tensor


def compile_it(fn: Callable[[Tensor], Tensor], backend: str | Callable) -> Callable[[Tensor], Tensor]:
    return torch.compile(fn, fullgraph=True, backend=backend)
