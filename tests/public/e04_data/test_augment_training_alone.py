"""The worked example of augment_training_alone."""

import torch
from torch.utils.data import random_split

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """Training pictures are augmented and prepared, the others prepared alone."""
    pictures, labels = 51 * torch.ones(10, 2), torch.arange(10)
    train, validation = answer.split(pictures, labels, lambda x: x / 255, lambda x: x + 10, seed=1)
    parts = random_split(range(10), [0.8, 0.2], generator=torch.Generator().manual_seed(1))
    for name, part, rows, x in [("train", train, parts[0], 61.0), ("validation", validation, parts[1], 51.0)]:
        expect_equal(
            [int(y) for _, y in (part[i] for i in range(len(part)))], list(rows), f"the labels of {name}"
        )
        expect_close(part[0][0], torch.full((2,), x / 255), f"x of {name}[0]")
