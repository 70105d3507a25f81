"""Where does the time go? A profile of a few steps, as a table of the dearest operations.

A step takes 25 ms, and nobody has measured why. Run it under PyTorch's profiler, and tell what takes time:

    def step():
        with record_function("load the batch"):     # from torch.profiler: a label; here, Python reads a file
            batch = read_batch()                    # takes 20 ms
        loss = model(batch).square().mean()
        loss.backward()

    for row in profile_top_ops(step, wait=1, warmup=1, active=3, top=3): print(row)

    # Row(name='load the batch', calls=3, self_us=61240.1, share=0.84, shapes=[])
    # Row(name='aten::mm', calls=9, self_us=6120.9, share=0.08, shapes=[])
    # Row(name='aten::addmm', calls=6, self_us=2911.4, share=0.04, shapes=[])

First steps are slow, and so is a fresh profiler. `torch.profiler.schedule` leaves out `wait` steps and drops what `warmup`
more record. The table is of the `active` steps behind, together.

- A row for each entry of `key_averages()`: operations, also of a backward, and labels; no Python functions.
- self_us: self time on the CPU in microseconds.
- Largest self_us first, at most `top` rows. share: of all self_us, also that cut off.
- With by_shape, a row for each name and list of input shapes.

Fine print:
- The profiler's own marks, "ProfilerStep*" and "[memory]", have no row, and no part in shares.
- wait and warmup may be 0. (Then a schedule without `repeat=1` begins again at the end, and forgets.)
- Without by_shape, shapes is [].
- What a step raises reaches the caller, no step follows, and the profiler is off.
- ValueError where active is below 1, or wait or warmup below 0; no step is run then. (schedule's AssertionError will do.)
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Row:
    """What one operation or label took in all active steps together."""

    name: str
    calls: int
    self_us: float
    share: float
    shapes: list[list[int]]


def profile_top_ops(
    step: Callable[[], object],
    wait: int = 1,
    warmup: int = 1,
    active: int = 3,
    top: int = 10,
    by_shape: bool = False,
) -> list[Row]:
    """The operations and labels with the largest self time; step runs wait + warmup + active times."""
    raise NotImplementedError
