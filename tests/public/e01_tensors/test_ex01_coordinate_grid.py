"""The contract of coordinate_grid."""

import torch

from grader.checks import expect_close


def test_edges_at_one(answer):
    """The worked example with -1 and 1 at the edges of the image comes out."""
    wanted = torch.tensor([[[-0.5, 0.0], [0.5, 0.0]]])
    expect_close(answer.coordinate_grid(1, 2), wanted, "coordinate_grid(1, 2)", dims="row column xy")


def test_corner_pixels_at_one(answer):
    """The worked example with -1 and 1 at the centres of the corner pixels comes out."""
    wanted = torch.tensor([[[-1.0, -1], [0, -1], [1, -1]], [[-1, 1], [0, 1], [1, 1]]])
    grid = answer.coordinate_grid(2, 3, align_corners=True)
    expect_close(grid, wanted, "coordinate_grid(2, 3, align_corners=True)", dims="row column xy")


def test_identity_of_each_image(answer):
    """Every image of the batch gets the transform [[1, 0, 0], [0, 1, 0]]."""
    wanted = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]]).repeat(4, 1, 1)
    yours = answer.identity_transforms(torch.zeros(4, 3, 2, 5))
    expect_close(yours, wanted, "identity_transforms(images)", dims="image row column")
