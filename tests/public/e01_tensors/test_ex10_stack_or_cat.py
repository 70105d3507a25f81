"""The contract of stack_or_cat."""

import torch

from grader.checks import expect_equal, expect_raises, expect_that


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    first = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 2.0, 2.0]])
    second = torch.tensor([[5.0, 5.0, 3.0, 3.0]])
    samples = [(torch.zeros(3, 8, 8), first), (torch.ones(3, 8, 8), second)]
    images, boxes, owner = answer.collate_detections(samples)
    wanted = torch.tensor([0.0, 1.0]).view(2, 1, 1, 1).expand(2, 3, 8, 8)
    expect_equal(images, wanted, "images of collate_detections(samples)", dims="batch channels height width")
    every = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 2.0, 2.0], [5.0, 5.0, 3.0, 3.0]])
    expect_equal(boxes, every, "boxes of collate_detections(samples)")
    expect_equal(owner, torch.tensor([0, 0, 1]), "owner of collate_detections(samples)")


def test_shapes(answer):
    """Images get a new first dimension; boxes stay in one list."""
    samples = [(torch.zeros(3, 4, 5), torch.zeros(2, 4))] * 3
    shapes = [tuple(part.shape) for part in answer.collate_detections(samples)]
    wanted = [(3, 3, 4, 5), (6, 4), (6,)]
    expect_that(shapes == wanted, "wrong shapes of images, boxes and owner", yours=shapes, wanted=wanted)


def test_no_samples(answer):
    """An empty batch raises ValueError."""
    expect_raises(ValueError, lambda: answer.collate_detections([]), "collate_detections([])")
