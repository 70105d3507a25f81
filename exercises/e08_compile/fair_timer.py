"""A fair timer: warm up, wait for the device, repeat, take the median.

A call on a GPU only queues work and returns, so a clock that is read right after it shows how long queueing takes. And
first calls are slow: something compiles, loads, allocates. Write a timer that neither misleads: call step() `warmup`
times untimed, then time `runs` calls, each by itself.

    # a step that takes 1 ms to queue and 5 ms to run, and 2 s more at its first call
    measure(step, warmup=1, runs=3)    # Timing(median=0.006, times=[0.006, 0.006, 0.006])
    measure(step, warmup=0, runs=3)    # Timing(median=0.006, times=[2.006, 0.006, 0.006])

- Before the clock is read, at the start and at the end of a run, wait until the device is done.
- To wait, call `synchronize()`. If it is None: `torch.accelerator.synchronize()` where
  `torch.accelerator.is_available()`; elsewhere there is nothing to wait for.
- Read the time by `clock()`. Times are floats, in seconds, in the order of the runs.

Fine print:
- Of an even number of runs, the median is the mean of the middle two; `torch.median` takes the lower.
- What the caller had queued before is in no run, also where warmup is 0.
- Any accelerator is waited for, not CUDA alone.
- step may be a training step: it runs with gradients where the caller has them on.
- What step returns is dropped before step is called again: it may be large.
- No runs: ValueError.
"""

import time
from collections.abc import Callable
from typing import NamedTuple


class Timing(NamedTuple):
    """Seconds for one call of the step: the median of the runs, and each run in order."""

    median: float
    times: list[float]


def measure(
    step: Callable[[], object],
    *,
    warmup: int = 3,
    runs: int = 10,
    synchronize: Callable[[], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Timing:
    """Time a step that may run on an accelerator."""
    raise NotImplementedError
