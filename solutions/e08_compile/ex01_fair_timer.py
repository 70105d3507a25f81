"""A fair timer: warmed up, waited for, and the median of several runs.

A call on an accelerator only queues work and returns. So these lines find 1 ms for a layer of any size, and
two seconds for the very first call, which compiles, loads and allocates:

    start = time.perf_counter()
    layer(x)
    print(time.perf_counter() - start)

Say that a step takes 1 ms to queue and 5 ms to run, and its first call 2 s more. Timed fairly:

    measure(step, warmup=1, runs=3)               # Timing(median=0.006, times=[0.006, 0.006, 0.006])
    measure(step, warmup=1, runs=3, calls=10)     # median 0.0051: the next call is queued while one runs
    measure(step, warmup=0, runs=4)               # median 0.006, and times[0] = 2.006

Rules:
- step() is called `warmup` times, which do not count. Then come `runs` runs. One run is: wait for the device,
  read the clock, call step `calls` times, wait for the device once, read the clock. Its time is what has
  passed between the two readings, divided by `calls`.
- step is called warmup + runs * calls times in all. Within a run nothing waits between the calls: a device
  that is waited for stands idle. Waits and readings outside the runs are free.
- Work that was queued earlier, by the caller or in the warm-up, is in no run, also where warmup is 0.
- To wait means to call `synchronize`. Without one: `torch.accelerator.synchronize()` where there is an
  accelerator (`torch.accelerator.is_available()` at the call), and nothing at all where there is none.
- Of an even number of runs the median is the mean of the middle two. The times stay in the order of the runs.
- Times are Python floats, with the precision of the clock, which may have started long ago: it may read
  2000000.000125.
- What step returns is dropped before step is called again, or a step that returns its activations would need
  twice the memory here.
- step runs in the caller's modes: with gradients, where they are computed outside. What it raises reaches the
  caller, and whatever is switched for the measurement is afterwards as it was, after an error too.
- ValueError, before step is called at all, for warmup below 0 and for runs or calls below 1.
"""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch


class Timing(NamedTuple):
    """Seconds for one call of the step: the median of the runs, and each run in order."""

    median: float
    times: list[float]


def measure(
    step: Callable[[], object],
    *,
    warmup: int = 3,
    runs: int = 10,
    calls: int = 1,
    synchronize: Callable[[], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Timing:
    """Time a step that may run on an accelerator.

    Args:
        step: what to time. It may return anything.
        warmup: how many calls come first, and are not timed.
        runs: how often to time.
        calls: how many calls one run consists of. Many, for a step that is short against the clock's ticks.
        synchronize: waits until the device has done everything that was queued; None for the accelerator of
            this machine, if it has one.
        clock: returns seconds since some moment.

    Returns:
        The median, and the time of each run: seconds per call.

    Raises:
        ValueError: a negative warmup, or no runs or calls.
    """
    if warmup < 0 or runs < 1 or calls < 1:
        raise ValueError(f"cannot time with warmup={warmup}, runs={runs}, calls={calls}")
    wait = synchronize or _wait_for_accelerator
    for _ in range(warmup):
        step()
    times = []
    for _ in range(runs):
        wait()  # what is still queued is not ours
        start = clock()
        for _ in range(calls):
            step()
        wait()  # or the clock is read while the device works
        times.append((clock() - start) / calls)
    return Timing(statistics.median(times), times)


def _wait_for_accelerator() -> None:
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
