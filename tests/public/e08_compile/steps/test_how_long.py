"""The suite of how_long, on a clock that only exists on paper."""

import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, given


class Work:
    """A function that takes `first` seconds at its first call and `later` at others; and a clock."""

    def __init__(self, first, later):
        self.first, self.later = first, later
        self.now, self.calls = 100.0, 0

    def __call__(self):
        self.now += self.later if self.calls else self.first
        self.calls += 1

    def clock(self):
        return self.now


def drawn(gen):
    first, later = torch.randint(1, 500, (2,), generator=gen).tolist()
    return given(Work((first + later) / 8, later / 8))


contract = Contract(
    "how_long(fn)",
    reference=lambda fn: fn.later,
    use=lambda answer, fn: answer.how_long(fn, fn.clock),
    example=(given(Work(2.0, 0.5)), 0.5),
    inputs=lambda gen: {f"for function {number}": drawn(gen) for number in (1, 2, 3)},
    suspects={
        "this is the time of the first call: call fn() once before you read the clock": lambda fn: fn.first,
        "the first call is timed as well: read the clock after it": lambda fn: fn.first + fn.later,
        "this is what the clock says at the end: subtract what it said before": (
            lambda fn: 100 + fn.first + fn.later
        ),
        "nothing happens between the two readings: call fn() between them": lambda fn: 0.0,
        "what was read after is subtracted from what was read before": lambda fn: -fn.later,
    },
)


def test_default_clock(answer):
    """Without a clock, time.perf_counter is read."""
    yours = answer.how_long(lambda: sum(range(20_000)))
    expect_that(isinstance(yours, float) and yours > 0, "how_long(fn) gives no seconds", yours=yours)
