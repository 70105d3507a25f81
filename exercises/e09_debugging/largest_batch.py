"""The largest batch that fits.

Out of memory at 64, fine at 32: and 48? `largest_batch` tries. `attempt(n)` runs forward and backward of `model` with
n rows, and raises `torch.OutOfMemoryError` if that does not fit. If n rows fit, fewer fit as well.

    largest_batch(model, attempt, limit=1000)      # 37, if 37 rows fit and 38 don't
    # tries 1, 2, 4, 8, 16, 32, 64: too large; then halves what lies between: 48, 40, 36, 38, 37
    largest_batch(model, attempt, limit=20)        # 20: all that is asked for fits
    largest_batch(model, attempt, limit=1000)      # 0, if not even one row fits

- Never try more than limit, nor more than twice what has fitted (at first: 1).
- At most 2 * log2(limit) + 2 attempts.
- The error of a failed attempt holds its frames, and with them their tensors: let go of it before the next attempt.
- Afterwards, and before each attempt, no parameter has a gradient: a failed one may leave some.
- Every other error, also another RuntimeError, reaches the caller at once.

Fine print:
- Buffers (a batch norm counts what it sees) are afterwards what they were before, and the same tensors. All this is so,
  and no gradient is left, also where another error reaches the caller.
- The model stays in its mode.
- ValueError if limit < 1, before any attempt.
"""

from collections.abc import Callable

from torch import nn


def largest_batch(model: nn.Module, attempt: Callable[[int], object], limit: int) -> int:
    """The largest number of rows up to limit with which `attempt` does not run out of memory."""
    raise NotImplementedError
