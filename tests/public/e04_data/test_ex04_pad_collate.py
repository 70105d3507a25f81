"""The contract of pad_collate."""

import torch

from grader.checks import expect_equal, expect_raises

CALL = "pad_collate(sentences, padding=-1, multiple_of=2)"


def sentences():
    return [torch.tensor([5, 0, 2]), torch.tensor([], dtype=torch.int64), torch.tensor([7])]


def test_values(answer):
    """The values of the worked example come out, padded with -1 to a multiple of 2."""
    batch = answer.pad_collate(sentences(), padding=-1, multiple_of=2)
    wanted = torch.tensor([[5, 0, 2, -1], [-1, -1, -1, -1], [7, -1, -1, -1]])
    expect_equal(batch.values, wanted, f"values of {CALL}", dims="batch time")


def test_lengths_and_mask(answer):
    """The lengths and the mask of the worked example come out, in int64 and bool."""
    batch = answer.pad_collate(sentences(), padding=-1, multiple_of=2)
    mask = torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=torch.bool)
    expect_equal(batch.lengths, torch.tensor([3, 0, 1]), f"lengths of {CALL}", dims="batch")
    expect_equal(batch.mask, mask, f"mask of {CALL}", dims="batch time")


def test_defaults(answer):
    """By default, padding is 0, and no longer than the longest."""
    batch = answer.pad_collate(sentences())
    expect_equal(
        batch.values, torch.tensor([[5, 0, 2], [0, 0, 0], [7, 0, 0]]), "pad_collate(sentences).values"
    )


def test_errors(answer):
    """No sequences, or two of different dtypes, raise ValueError."""
    mixed = [torch.tensor([1]), torch.tensor([1.0])]
    expect_raises(ValueError, lambda: answer.pad_collate([]), "pad_collate([])")
    expect_raises(ValueError, lambda: answer.pad_collate(mixed), "pad_collate of int64 and float32")
