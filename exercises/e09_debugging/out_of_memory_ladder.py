"""Out of memory: one measure after the other.

A step does not fit. There are measures, the cheapest first: half the rows at a time, activations computed anew, half
precision. Go down the list until it fits. `step(**measure)` runs forward and backward of `model`, and raises
`torch.OutOfMemoryError` where it does not fit.

    measures = [{}, {"parts": 2}, {"parts": 2, "checkpoint": True}, {"parts": 4, "half": True}]
    first_that_fits(model, step, measures)    # ({"parts": 2}, 0.75): step() did not fit, step(parts=2) returned 0.75

- The measure comes back, with what the step returned; none after it is tried.
- A failed attempt may have added to gradients. Each begins with those of the call: parameters may have some.
- An error holds frames, and so their tensors: let go of it before the next attempt.
- If no measure helps, raise `torch.OutOfMemoryError`, with the gradients of the call.
- Other errors reach the caller at once.

Fine print:
- Each attempt also begins with the buffers of the call (a batch norm counts what it sees), in the same tensors, and
  with the same random numbers of the CPU (`torch.get_rng_state`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import nn


def first_that_fits(
    model: nn.Module, step: Callable[..., Any], measures: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], Any]:
    """The first measure with which the step does not run out of memory, and what the step returned."""
    raise NotImplementedError
