"""The contract of choose_dtype."""

import torch

from grader.checks import expect_equal, expect_raises


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    for smallest, largest, error, wanted in [
        (0.001, 60000.0, 0.001, torch.float16),
        (0.001, 70000.0, 0.005, torch.bfloat16),
        (0.001, 70000.0, 0.001, torch.float32),
        (0.00001, 1.0, 0.001, torch.float32),
    ]:
        call = f"float_for({smallest}, {largest}, error={error})"
        expect_equal(answer.float_for(smallest, largest, error=error), wanted, call)
    expect_equal(answer.int_for(0, 255), torch.uint8, "int_for(0, 255)")
    expect_equal(answer.int_for(-1, 255), torch.int16, "int_for(-1, 255)")


def test_compact(answer):
    """A column is converted, with its zeros and negative numbers."""
    x = torch.tensor([0.0, -2.5, 1000.0], dtype=torch.float64)
    expect_equal(answer.compact(x, error=0.001), x.half(), "compact(x, error=0.001)")
    ids = torch.tensor([[50256, 11], [0, 13]])
    expect_equal(answer.compact(ids, error=0.001), ids.int(), "compact(ids, error=0.001)")


def test_bad_input(answer):
    """Numbers that no dtype holds, and ranges upside down, raise ValueError."""
    expect_raises(ValueError, lambda: answer.float_for(1.0, 2.0, error=1e-20), "float_for(1, 2, error=1e-20)")
    expect_raises(ValueError, lambda: answer.float_for(2.0, 1.0, error=0.1), "float_for(2, 1, error=0.1)")
    expect_raises(ValueError, lambda: answer.int_for(3, 2), "int_for(3, 2)")
