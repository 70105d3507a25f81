from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn


def first_that_fits(
    model: nn.Module, step: Callable[..., Any], measures: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], Any]:
    grads = [(p, None if p.grad is None else p.grad.clone()) for p in model.parameters()]
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]
    numbers = torch.get_rng_state()

    def put_back() -> None:
        for p, grad in grads:
            p.grad = None if grad is None else grad.clone()  # the next attempt adds to what it finds
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)
        torch.set_rng_state(numbers)

    for measure in measures:
        try:
            return measure, step(**measure)
        except torch.OutOfMemoryError:
            pass  # the error, and what it holds, goes with this handler
        put_back()
    raise torch.OutOfMemoryError(f"none of {len(measures)} measures makes the step fit")
