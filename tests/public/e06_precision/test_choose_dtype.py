"""The worked example of choose_dtype."""

import pytest
import torch

from grader.checks import expect_equal

HALF, BRAIN, SINGLE = torch.float16, torch.bfloat16, torch.float32


@pytest.mark.parametrize(
    ("smallest", "largest", "error", "wanted"),
    [
        (0.001, 60000.0, 0.001, HALF),
        (0.001, 70000.0, 0.005, BRAIN),
        (0.001, 70000.0, 0.001, SINGLE),
        (0.00001, 1.0, 0.001, SINGLE),
    ],
)
def test_floats(answer, smallest, largest, error, wanted):
    """The dtypes for floats of the worked example come out."""
    call = f"float_for({smallest}, {largest}, error={error})"
    expect_equal(answer.float_for(smallest, largest, error=error), wanted, call)


def test_integers(answer):
    """The dtypes for integers of the worked example come out."""
    expect_equal(answer.int_for(0, 255), torch.uint8, "int_for(0, 255)")
    expect_equal(answer.int_for(-1, 255), torch.int16, "int_for(-1, 255)")


def test_compact(answer):
    """A column of the worked example is converted, with its zeros and negative numbers."""
    x = torch.tensor([0.0, -2.5, 1000.0], dtype=torch.float64)
    suspects = {
        "0 counts as the smallest size": lambda: x,
        "the sign counts, or eps stands for the smallest size": lambda: x.float(),
    }
    expect_equal(answer.compact(x, error=0.001), x.half(), "compact(x, error=0.001)", suspects=suspects)
    ids = torch.tensor([[50256, 11], [0, 13]])
    expect_equal(answer.compact(ids, error=0.001), ids.int(), "compact(ids, error=0.001)")
