from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def any_batch(fn: Callable[..., Any], backend: str | Callable[..., Any] = "inductor") -> Callable[..., Any]:
    compiled = torch.compile(fn, backend=backend)

    def run(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if isinstance(value, Tensor) and value.dim():
                torch._dynamo.mark_dynamic(value, 0)
        return compiled(*args, **kwargs)

    return run
