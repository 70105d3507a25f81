"""The worked example of profile_top_ops: a step that loads its batch slowly."""

import time

import torch
from torch.profiler import record_function

from grader.checks import expect_equal, expect_that


def test_names_the_bottleneck(answer):
    """The label in which a step spends its time comes first, with its calls and its share."""
    calls, rows = [], []

    def step():
        calls.append(1)
        with record_function("load the batch"):
            time.sleep(0.01)
        torch.ones(4, 4).sum()

    for _ in range(3):  # a busy machine may interrupt an operation for longer than that
        if not rows or rows[0].name != "load the batch":
            calls.clear()
            rows = answer.profile_top_ops(step, wait=1, warmup=1, active=2, top=3)
    call = "profile_top_ops(step, wait=1, warmup=1, active=2, top=3)"
    expect_equal(
        len(calls),
        4,
        f"how often {call} calls step",
        suspects={"the active steps alone are run, without wait and warmup": lambda: 2},
    )
    expect_equal(len(rows), 3, f"the number of rows of {call}")
    first, wanted = rows[0], ("load the batch", 2)
    suspects = {
        "all steps count, also those before the active ones": lambda: ("load the batch", 4),
        "these are the calls of one step: those of all active steps count": lambda: ("load the batch", 1),
    }
    times, yours = [row.self_us for row in rows], (first.name, first.calls)
    if times[0] < times[-1]:
        suspects["the rows begin with the least time: the most comes first"] = lambda: yours
    if first.name.startswith("<"):
        suspects["a stack has rows of its own, which take the time of what they call"] = lambda: yours
    if times == sorted(times)[::-1] and all(row.name.startswith("aten::") for row in rows):
        suspects["labels of `record_function` have rows as well as operations"] = lambda: yours
    expect_equal(yours, wanted, f"the first row of {call}", suspects=suspects)
    expect_that(
        first.self_us > 15_000,
        "self_us of the first row is too little for 10 ms in each of 2 steps",
        yours=first.self_us,
        wanted="about 20000, in microseconds",
        **({"likely": "these are milliseconds"} if 15 < first.self_us < 1000 else {}),
    )
    percent = {"likely": "this is in percent"} if 1 < first.share <= 100 else {}
    expect_that(
        0 < first.share < 1, "the share of the first row is no part of 1", yours=first.share, **percent
    )
