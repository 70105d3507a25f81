"""The worked example of out_of_memory_ladder."""

import torch
from torch import nn

from grader.checks import expect_equal


def test_worked_example(answer):
    """The first measure that makes the step fit comes back, with what the step returned."""
    measures = [{}, {"parts": 2}, {"parts": 2, "checkpoint": True}, {"parts": 4, "half": True}]

    def step(parts=1, checkpoint=False, half=False):
        if parts == 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return 0.75

    found = answer.first_that_fits(nn.Linear(2, 1), step, measures)
    expect_equal(tuple(found), ({"parts": 2}, 0.75), "first_that_fits(model, step, measures)")
