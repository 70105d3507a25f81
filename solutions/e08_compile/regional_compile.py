from collections.abc import Callable
from typing import Any

from torch import nn


def compile_blocks(
    model: nn.Module, kind: type[nn.Module], backend: str | Callable[..., Any] = "inductor"
) -> int:
    blocks = [module for module in model.modules() if isinstance(module, kind)]
    if not blocks:
        raise ValueError(f"the model has no {kind.__name__}")
    for block in blocks:
        block.compile(backend=backend)  # in place: a wrapper would be in the names of the state_dict
    return len(blocks)
