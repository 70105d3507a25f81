"""The worked example of contiguous_labels."""

import torch

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example has three classes; its codes are right, and become the mask again."""
    mask = torch.tensor([[7, 255, 40], [3, 7, 7]], dtype=torch.uint8)
    classes = answer.ClassMap(mask, ignore=255)
    expect_equal(len(classes), 3, "len(classes)")
    expect_equal(classes.labels, torch.tensor([3, 7, 40], dtype=torch.uint8), "classes.labels")
    codes = torch.tensor([[1, -100, 2], [0, 1, 1]])
    last = {
        "`ignore` is the last class: it becomes -100": lambda: codes.where(codes >= 0, 3),
        "`ignore` stays what it was: it becomes -100": lambda: codes.where(codes >= 0, 255),
    }
    expect_equal(classes.encode(mask), codes, "classes.encode(mask)", dims="row column", suspects=last)
    counted = {
        "-100 is taken for a class, from the end of the labels: it becomes `ignore`": lambda: classes.labels[
            codes.clamp(min=-1)
        ],
        "-100 is taken for the first class: it becomes `ignore`": lambda: classes.labels[codes.clamp(min=0)],
    }
    expect_equal(classes.decode(codes), mask, "classes.decode(codes)", dims="row column", suspects=counted)
