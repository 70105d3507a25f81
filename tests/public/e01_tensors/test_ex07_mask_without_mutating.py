"""The contract of mask_without_mutating."""

import torch

from grader.checks import expect_equal, unchanged


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    x = torch.tensor([0.5, -7.0, 9999.0, 1.0])
    wanted = torch.tensor([0.5, -2.0, 1.5, 1.0])
    expect_equal(answer.clip_outliers(x, low=-2.0, high=1.5), wanted, "clip_outliers(x, low=-2.0, high=1.5)")


def test_raw_readings_are_left_alone(answer):
    """The readings that went in are the same afterwards."""
    x = torch.tensor([0.5, -7.0, 9999.0, 1.0])
    with unchanged("clip_outliers(x, -2.0, 1.5)", x=x):
        answer.clip_outliers(x, -2.0, 1.5)


def test_shape_and_dtype(answer):
    """Shape and dtype come out as they went in."""
    x = torch.full((2, 3, 4), 8.0, dtype=torch.float16)
    clipped = answer.clip_outliers(x, 0.0, 2.0)
    expect_equal(clipped.shape, torch.Size([2, 3, 4]), "the shape of clip_outliers(x, low, high)")
    expect_equal(clipped.dtype, torch.float16, "the dtype of clip_outliers(x, low, high)")
