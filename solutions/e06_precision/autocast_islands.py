from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def _widen(value: Any) -> Any:
    narrow = isinstance(value, Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.float() if narrow else value


class Float32Island(nn.Module):
    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Shaped[Tensor, "*shape"], /, *args: Any, **kwargs: Any) -> Any:
        with torch.autocast(x.device.type, enabled=False):
            wide = {name: _widen(value) for name, value in kwargs.items()}
            return self.block(_widen(x), *map(_widen, args), **wide)
