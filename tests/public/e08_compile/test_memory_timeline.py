"""The worked example of memory_timeline."""

import torch
from torch import nn

from grader.checks import expect_equal, expect_that

WANTED = [("forward", 2_000_000, 1_010_004), ("backward", 5_040_008, 4_040_004)]


def test_worked_example(answer):
    """The worked example of the statement comes out: two phases."""
    model = nn.Sequential(nn.Linear(1000, 1000, bias=False), nn.ReLU(), nn.Linear(1000, 10, bias=False))
    x = torch.randn(250, 1000)
    with answer.memory_timeline() as timeline:
        loss = model(x).square().mean()
        timeline.mark("forward")
        loss.backward()
        timeline.mark("backward")
    expect_equal([row.name for row in timeline.rows], ["forward", "backward"], "the names of timeline.rows")
    for row, (name, peak, live) in zip(timeline.rows, WANTED, strict=True):
        for what, mine, right in (("peak", row.peak, peak), ("live", row.live, live)):
            old = "memory from before the block counts, or a view of it: a weight has 4 MB"
            likely = {"likely": old} if mine > right + 2_000_000 else {}
            told = f"wrong {what} of {name!r}"
            expect_that(abs(mine - right) <= 1000, told, yours=mine, wanted=right, **likely)
