from collections.abc import Callable
from dataclasses import dataclass

from torch.profiler import ProfilerActivity, profile, schedule


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
    if active < 1 or wait < 0 or warmup < 0:
        raise ValueError(f"impossible schedule: {wait=}, {warmup=}, {active=}")
    # with repeat=0 it would begin again at the end, and forget
    plan = schedule(wait=wait, warmup=warmup, active=active, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=by_shape) as profiler:
        for _ in range(wait + warmup + active):
            step()
            profiler.step()  # behind the step: the schedule is at number 0 from the start
    averages = profiler.key_averages(group_by_input_shape=by_shape)
    found = [a for a in averages if not a.key.startswith("ProfilerStep")]
    total = sum(a.self_cpu_time_total for a in found)
    found.sort(key=lambda a: a.self_cpu_time_total, reverse=True)
    return [
        Row(
            name=a.key,
            calls=a.count,
            self_us=a.self_cpu_time_total,
            share=a.self_cpu_time_total / total,
            shapes=a.input_shapes if by_shape else [],
        )
        for a in found[:top]
    ]
