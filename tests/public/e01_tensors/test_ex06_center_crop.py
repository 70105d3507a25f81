"""The contract of center_crop."""

import torch

from grader.checks import expect_equal, expect_raises, expect_view


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    image = torch.arange(20).view(4, 5)
    wanted = torch.tensor([[6, 7], [11, 12]])
    expect_equal(answer.center_crop(image, 2, 2), wanted, "center_crop(image, 2, 2)", dims="row column")


def test_batch(answer):
    """A batch of images is cropped along its last two dims, without a copy."""
    images = torch.arange(2 * 3 * 4 * 6.0).view(2, 3, 4, 6)
    wanted = torch.tensor([[7.0, 8, 9, 10], [13, 14, 15, 16]]) + 24 * torch.arange(6.0).view(2, 3, 1, 1)
    crop = answer.center_crop(images, 2, 4)
    expect_equal(crop, wanted, "center_crop(images, 2, 4)", dims="batch channel row column")
    expect_view(crop, images, "center_crop(images, 2, 4)")


def test_too_large(answer):
    """A crop larger than the image raises ValueError."""
    expect_raises(
        ValueError, lambda: answer.center_crop(torch.zeros(4, 5), 5, 5), "center_crop of (4, 5) to (5, 5)"
    )
