"""The contract of profile_top_ops."""

import time

import torch
from torch.profiler import record_function

from grader.checks import expect_equal, expect_raises, expect_that


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
    expect_equal(len(calls), 4, "how often profile_top_ops(step, wait=1, warmup=1, active=2) calls step")
    expect_equal(len(rows), 3, "the number of rows of profile_top_ops(…, top=3)")
    first = rows[0]
    expect_equal((first.name, first.calls), ("load the batch", 2), "name and calls of the first row")
    expect_that(
        first.self_us > 15_000,
        "self_us of the first row is too little for 10 ms in each of 2 steps",
        yours=first.self_us,
        wanted="about 20000, in microseconds",
    )
    expect_that(0 < first.share < 1, "the share of the first row is no part of 1", yours=first.share)
    expect_equal(list(first.shapes), [], "the shapes of the first row, without by_shape")
    names = [row.name for row in rows[1:]]
    expect_that(all("aten::" in name for name in names), "the other rows are no operations", yours=names)


def test_bad_input(answer):
    """A table of no steps raises ValueError."""
    call = "profile_top_ops(step, active=0)"
    expect_raises(ValueError, lambda: answer.profile_top_ops(lambda: None, active=0), call)
