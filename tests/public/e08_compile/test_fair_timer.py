"""The worked example of measure, on a device and a clock that only exist on paper."""

import pytest
import torch

from grader.checks import expect_close, expect_number, expect_that


class Queue:
    """A device that works while the host goes on, and a clock that both go by."""

    def __init__(self):
        self.now, self.idle_at, self.first, self.reads = 0.0, 0.0, 2.0, 0

    def step(self):
        self.now += 0.001 + self.first  # to queue it
        self.first = 0.0
        self.idle_at = max(self.idle_at, self.now) + 0.005  # to run it

    def synchronize(self):
        self.now = max(self.now, self.idle_at)

    def clock(self):
        self.reads += 1
        return self.now


@pytest.mark.parametrize(("warmup", "first"), [(1, 0.006), (0, 2.006)], ids=["warm", "cold"])
def test_worked_example(answer, warmup, first):
    """The worked examples of the statement come out."""
    queue, call = Queue(), f"measure(step, warmup={warmup}, runs=3)"
    timing = answer.measure(
        queue.step, warmup=warmup, runs=3, synchronize=queue.synchronize, clock=queue.clock
    )
    expect_that(queue.reads > 0, f"{call} does not read the `clock` that it is given")
    times = torch.tensor([first, 0.006, 0.006])
    suspects = {
        "these are the times to queue: wait before the clock stops": lambda: times - 0.005,
        "all runs are timed together: read the clock before and after each": lambda: torch.full(
            (3,), (first + 0.010) / 3
        ),
    }
    expect_close(torch.tensor(timing.times), times, f"`times` of {call}", ulps=16, suspects=suspects)
    mean = {"this is the mean": lambda: sum(timing.times) / 3}
    expect_number(float(timing.median), 0.006, f"median of {call}", suspects=mean)


def test_a_real_clock(answer):
    """A step on the CPU is timed by the default clock, without a device."""
    timing = answer.measure(lambda: sum(range(1000)), warmup=1, runs=3)
    times = [*timing.times, timing.median]
    expect_that(all(t >= 0 for t in times), "a time below 0 by the default clock", yours=times)
