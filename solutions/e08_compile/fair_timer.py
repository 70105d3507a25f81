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
    synchronize: Callable[[], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Timing:
    wait = synchronize or _wait_for_accelerator
    for _ in range(warmup):
        step()
    times = []
    for _ in range(runs):
        wait()  # what is still queued is not ours
        start = clock()
        step()
        wait()  # or the clock is read while the device works
        times.append(clock() - start)
    return Timing(statistics.median(times), times)


def _wait_for_accelerator() -> None:
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
