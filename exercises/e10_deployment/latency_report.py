"""A latency report: what a caller waits, and how many rows a second come out.

A team asks how large batches may be so that nearly nobody waits for more than 50 ms. An average does not tell: of a hundred
calls the slowest are those that people remember. Measure `predict` for each size of batches.

    # batches of 1 row take 900, 10, 12, 11 and 47 ms in turn, those of 4 rows 1000, 20 and 20
    report = latency_report(predict, batches, warmup=1)
    report[1]      # Latency(calls=4, p50=11.5, p95=41.75, p99=45.95, rows_per_second=50.0)
    report[4]      # Latency(calls=2, p50=20.0, p95=20.0, p99=20.0, rows_per_second=200.0)

- Each batch is predicted once. The first `warmup` batches of each size (len(batch)) do not count.
- p50, p95 and p99 are percentiles in milliseconds, interpolated as `torch.quantile` does.
- rows_per_second: the rows that count, by the time that their calls took.
- Time is read by `clock()`, in seconds. What it takes to bring a batch is no part of a call.

Fine print:
- The smallest size comes first, and a size of which no batch counts is not in the report.
- The clock may stand at a large number, as time.time() does: times are right to a microsecond.
- batches may be a generator.
"""

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

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
    """Percentiles of the calls of `predict`, and its throughput, for each number of rows."""
    raise NotImplementedError
