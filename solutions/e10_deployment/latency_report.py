import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from jaxtyping import Shaped
from torch import Tensor


class Latency(NamedTuple):
    """What was measured of batches of one size."""

    calls: int
    p50: float
    p95: float
    p99: float
    rows_per_second: float


def latency_report(
    predict: Callable[[Shaped[Tensor, "rows ..."]], object],
    batches: Iterable[Shaped[Tensor, "rows ..."]],
    *,
    warmup: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[int, Latency]:
    seconds: dict[int, list[float]] = defaultdict(list)
    for batch in batches:
        start = clock()
        predict(batch)
        seconds[len(batch)].append(clock() - start)
    report = {}
    for rows, times in sorted(seconds.items()):
        counted = torch.tensor(times[warmup:], dtype=torch.float64)
        if len(counted):
            at = torch.tensor([0.5, 0.95, 0.99], dtype=torch.float64)
            p50, p95, p99 = (1000 * counted.quantile(at)).tolist()
            rate = rows * len(counted) / counted.sum().item()
            report[rows] = Latency(len(counted), p50, p95, p99, rate)
    return report
