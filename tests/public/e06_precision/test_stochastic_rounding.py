"""The worked example of stochastic_rounding."""

import torch

from grader.checks import expect_equal, expect_that


def test_worked_example(answer):
    """Of a thousand times 1.002 about a quarter becomes 1.0078, and the others 1."""
    yours = answer.stochastic_round(torch.full((1000,), 1.002))
    expect_equal(yours.dtype, torch.bfloat16, "the dtype of stochastic_round(x)")
    found = yours.float().unique().tolist()
    expect_equal(found, [1.0, 1.0078125], "the numbers in stochastic_round(x), x = 1.002 a thousand times")
    ups = int((yours > 1).sum())
    expect_that(156 < ups < 356, "1.002 is not rounded up about 256 times in 1000", yours=ups)
