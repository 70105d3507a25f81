"""Where does the time go? A profile of a few steps, as a table of the dearest operations.

A step of training takes 25 ms, and everybody has an idea why. Nobody has measured. `profile_top_ops` runs the
step a few times under PyTorch's profiler, and says what the time was spent on:

    def step():
        with record_function("load the batch"):     # from torch.profiler; here, Python reads a file
            batch = read_batch()                    # takes 20 ms
        loss = model(batch).square().mean()
        loss.backward()

    for row in profile_top_ops(step, wait=1, warmup=1, active=3, top=3): print(row)

    Row(name='load the batch', calls=3, self_us=61240.1, share=0.84, shapes=[])
    Row(name='aten::mm', calls=9, self_us=6120.9, share=0.08, shapes=[])
    Row(name='aten::addmm', calls=6, self_us=2911.4, share=0.04, shapes=[])

The first steps of a program are slow for reasons of their own (caches, lazy imports, compilation), and so is
a profiler that has just started. So a profile has a schedule: the first `wait` steps run without it, in the
next `warmup` steps it runs and throws away what it sees, and only the `active` steps behind those count.

Rules:
- step() is called wait + warmup + active times, no more. The table is about all of the active steps together,
  and about nothing else.
- A row for each name that the profiler reports: operations, with their names in the profiler ("aten::mm"),
  those of a backward pass in the step too, and labels that the step sets with `record_function`. Nothing
  else: not the profiler's marks for the steps ("ProfilerStep*"), no Python functions, no stacks, no memory.
- calls: how often it ran. self_us: its self time on the CPU, in microseconds: without the time of operations
  and labels within it. (`aten::linear` takes next to none: it calls `aten::addmm`.)
- The rows are sorted by self_us, the largest first, and cut off after `top`.
- share: self_us over the sum of self_us of all rows, also of those that are cut off.
- With by_shape, there is a row for each name and each list of input shapes, as the profiler groups them
  (`[[8, 16], [16, 4]]` for a product; [] for a label): so one large product among many small ones is seen.
  Without it, shapes is [].
- A step in which nothing runs gives [].
- What a step raises reaches the caller as it is, and the profiler is off then: the next profile can start.

Bad input: ValueError where active or top is below 1, or wait or warmup below 0. No step is run then.
"""

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
    """The operations and labels with the largest self time.

    Args:
        step: one step of the program; what it returns is dropped.
        wait: how many steps run first, without the profiler.
        warmup: how many steps follow, with the profiler, whose records are dropped.
        active: how many steps are in the table.
        top: how many rows there are at most.
        by_shape: whether calls with other input shapes have a row of their own.

    Raises:
        ValueError: active or top is below 1, or wait or warmup below 0.
    """
    if active < 1 or top < 1 or wait < 0 or warmup < 0:
        raise ValueError(f"impossible schedule or table: {wait=}, {warmup=}, {active=}, {top=}")
    # with repeat=0 it would begin again at the end, and forget
    plan = schedule(wait=wait, warmup=warmup, active=active, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=by_shape) as profiler:
        for _ in range(wait + warmup + active):
            step()
            profiler.step()  # behind the step: the schedule is at number 0 from the start
    averages = profiler.key_averages(group_by_input_shape=by_shape)
    found = [a for a in averages if not a.key.startswith("ProfilerStep")]
    total = sum(a.self_cpu_time_total for a in found) or 1.0
    found.sort(key=lambda a: a.self_cpu_time_total, reverse=True)
    return [
        Row(
            name=a.key,
            calls=a.count,
            self_us=a.self_cpu_time_total,
            share=a.self_cpu_time_total / total,
            shapes=[list(shape) for shape in a.input_shapes] if by_shape else [],
        )
        for a in found[:top]
    ]
