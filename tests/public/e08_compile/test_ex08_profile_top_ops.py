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
    expect_equal(len(calls), 4, f"how often {call} calls step", suspects={"the active steps": lambda: 2})
    expect_equal(len(rows), 3, f"the number of rows of {call}")
    first = rows[0]
    every = {"all steps count, also those before the active ones": lambda: ("load the batch", 4)}
    wanted = ("load the batch", 2)
    expect_equal((first.name, first.calls), wanted, f"the first row of {call}", suspects=every)
    expect_that(
        first.self_us > 15_000,
        "self_us of the first row is too little for 10 ms in each of 2 steps",
        yours=first.self_us,
        wanted="about 20000, in microseconds",
    )
    expect_that(0 < first.share < 1, "the share of the first row is no part of 1", yours=first.share)
