"""The contract of warmup_cosine."""

import pytest
import torch
from torch.optim.lr_scheduler import LambdaLR

from grader.checks import expect_equal, expect_raises, expect_that

CURVE = [0.25, 0.5, 0.75, 1.0, 1.0, 0.854, 0.5, 0.146, 0.0, 0.0]


@pytest.mark.parametrize("step", range(10))
def test_worked_example(answer, step):
    """The worked example of the statement comes out: four steps up, half a cosine down to 0."""
    yours = answer.warmup_cosine(step, warmup=4, total=8)
    expect_that(isinstance(yours, float), "the factor is no float", yours=yours)
    expect_equal(round(yours, 3), CURVE[step], f"round(warmup_cosine({step}, warmup=4, total=8), 3)")


def test_schedule(answer):
    """The schedule moves the learning rate of the optimizer along the curve."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=2.0)
    schedule = answer.warmup_cosine_schedule(optimizer, warmup=4, total=8)
    expect_that(isinstance(schedule, LambdaLR), "the schedule is no LambdaLR", yours=schedule)
    for step, factor in enumerate(CURVE):
        rate = optimizer.param_groups[0]["lr"]
        expect_equal(round(rate / 2, 3), factor, f"lr / 2 at step {step}, rounded,")
        optimizer.step()
        schedule.step()


def test_bad_numbers(answer):
    """A warm-up that is longer than everything raises ValueError."""
    expect_raises(
        ValueError,
        lambda: answer.warmup_cosine(0, warmup=9, total=8),
        "warmup_cosine(0, warmup=9, total=8)",
    )
