"""The contract of contiguous_labels."""

import torch

from grader.checks import expect_equal, expect_raises

MASK = torch.tensor([[7, 255, 40], [3, 7, 7]], dtype=torch.uint8)


def test_classes(answer):
    """The classes of the worked example are 3, 7 and 40."""
    classes = answer.ClassMap(MASK.clone(), ignore=255)
    expect_equal(len(classes), 3, "len(classes)")
    expect_equal(classes.labels, torch.tensor([3, 7, 40], dtype=torch.uint8), "classes.labels")


def test_there_and_back(answer):
    """The mask of the worked example becomes numbers from 0 to 2 and -100, and comes back in uint8."""
    classes = answer.ClassMap(MASK.clone(), ignore=255)
    codes = torch.tensor([[1, -100, 2], [0, 1, 1]])
    expect_equal(classes.encode(MASK.clone()), codes, "classes.encode(mask)", dims="height width")
    expect_equal(classes.decode(codes.clone()), MASK, "classes.decode(codes)", dims="height width")


def test_errors(answer):
    """A label that is no class raises ValueError, a code of none IndexError, and floats TypeError."""
    classes = answer.ClassMap(MASK.clone(), ignore=255)
    expect_raises(
        ValueError, lambda: classes.encode(torch.tensor([3, 5])), "encode(tensor([3, 5]))", words="5"
    )
    expect_raises(IndexError, lambda: classes.decode(torch.tensor([0, 3])), "decode(tensor([0, 3]))")
    expect_raises(TypeError, lambda: classes.encode(torch.tensor([3.0])), "encode(tensor([3.]))")
