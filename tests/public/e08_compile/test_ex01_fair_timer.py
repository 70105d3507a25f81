"""The contract of measure, on a device and a clock that only exist on paper."""

import pytest

from grader.checks import expect_equal, expect_raises, expect_that


class Queue:
    """A device that works while the host goes on, and a clock that both go by."""

    def __init__(self, first=2.0):
        self.now, self.idle_at, self.first = 0.0, 0.0, first

    def step(self):
        self.now += 0.001 + self.first  # to queue it
        self.first = 0.0
        self.idle_at = max(self.idle_at, self.now) + 0.005  # to run it

    def synchronize(self):
        self.now = max(self.now, self.idle_at)

    def clock(self):
        return self.now


EXAMPLES = {
    "measure(step, warmup=1, runs=3)": ({"warmup": 1, "runs": 3}, 0.006, [0.006] * 3),
    "measure(step, warmup=1, runs=3, calls=10)": (
        {"warmup": 1, "runs": 3, "calls": 10},
        0.0051,
        [0.0051] * 3,
    ),
    "measure(step, warmup=0, runs=4)": ({"warmup": 0, "runs": 4}, 0.006, [2.006, 0.006, 0.006, 0.006]),
}


@pytest.mark.parametrize("call", EXAMPLES)
def test_worked_example(answer, call):
    """The worked examples of the statement come out."""
    arguments, median, times = EXAMPLES[call]
    queue = Queue()
    timing = answer.measure(queue.step, synchronize=queue.synchronize, clock=queue.clock, **arguments)
    expect_equal(len(timing.times), len(times), f"the number of times from {call}")
    for number, (mine, right) in enumerate(zip(timing.times, times, strict=True)):
        expect_that(abs(mine - right) < 1e-9, f"wrong times[{number}] from {call}", yours=mine, wanted=right)
    expect_that(
        abs(timing.median - median) < 1e-9,
        f"wrong median from {call}",
        yours=timing.median,
        wanted=median,
    )


def test_bad_arguments(answer):
    """A negative warmup, no runs and no calls are ValueErrors."""
    for name, value in (("warmup", -1), ("runs", 0), ("calls", 0)):
        expect_raises(
            ValueError,
            lambda n=name, v=value: answer.measure(list, **{n: v}),
            f"measure(step, {name}={value})",
        )


def test_a_real_clock(answer):
    """A step on the CPU is timed by the default clock, without a device."""
    timing = answer.measure(lambda: sum(range(20_000)), warmup=1, runs=3)
    expect_that(timing.median > 0, "a step takes no time by the default clock", yours=timing.median)
