"""The worked example of pad_collate."""

import torch

from grader.checks import expect_equal, expect_that

CALL = "pad_collate(sentences, padding=-1)"


def test_worked_example(answer):
    """The values, lengths and mask of the worked example come out."""
    batch = answer.pad_collate([torch.tensor([5, 0, 2]), torch.tensor([7])], padding=-1)
    zeros = {"padded with 0, not with `padding`": lambda: torch.tensor([[5, 0, 2], [7, 0, 0]])}
    values = torch.tensor([[5, 0, 2], [7, -1, -1]])
    expect_equal(batch.values, values, f"values of {CALL}", dims="batch time", suspects=zeros)
    expect_that(
        batch.lengths.tolist() != [3, 3],
        f"lengths of {CALL} count the padding as well",
        yours=batch.lengths.tolist(),
        wanted="[3, 1]",
    )
    expect_equal(batch.lengths, torch.tensor([3, 1]), f"lengths of {CALL}", dims="batch")
    mask = torch.tensor([[True, True, True], [True, False, False]])
    other = {"the mask is the other way round: True stands for real steps": lambda: ~mask}
    expect_equal(batch.mask, mask, f"mask of {CALL}", dims="batch time", suspects=other)


def test_default(answer):
    """Without padding=, there are zeros behind a sentence."""
    batch = answer.pad_collate([torch.tensor([5, 8, 2]), torch.tensor([7])])
    expect_equal(batch.values, torch.tensor([[5, 8, 2], [7, 0, 0]]), "values of pad_collate(sentences)")
