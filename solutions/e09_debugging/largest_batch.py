from collections.abc import Callable

import torch
from torch import nn


def largest_batch(model: nn.Module, attempt: Callable[[int], object], limit: int) -> int:
    if limit < 1:
        raise ValueError(f"limit must be 1 or more, not {limit}")
    before = [(buffer, buffer.clone()) for buffer in model.buffers()]

    def fits(rows: int) -> bool:
        model.zero_grad()
        try:
            attempt(rows)
        except torch.OutOfMemoryError:
            return False  # the error, and what it holds, goes with this frame
        return True

    fitted, bound = 0, limit + 1  # fitted rows fit, bound rows do not
    try:
        while bound - fitted > 1:
            doubled = max(1, 2 * fitted)
            rows = min(doubled, limit) if bound > limit else (fitted + bound) // 2
            if fits(rows):
                fitted = rows
            else:
                bound = rows
    finally:
        model.zero_grad()
        with torch.no_grad():
            for buffer, value in before:
                buffer.copy_(value)
    return fitted
