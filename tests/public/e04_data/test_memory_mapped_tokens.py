"""The worked example of memory_mapped_tokens."""

import tempfile
from pathlib import Path

import numpy as np
import torch

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.bin"
        np.array([7, 3, 50256, 4, 1, 8, 2, 9], dtype=np.uint16).tofile(path)
        data = answer.TokenFile(str(path), block=3)
        expect_equal(len(data), 2, "len(data)")
        for i, x, y in [(0, [7, 3, 50256], [3, 50256, 4]), (1, [4, 1, 8], [1, 8, 2])]:
            expect_equal(data[i][0], torch.tensor(x), f"x of data[{i}]")
            expect_equal(data[i][1], torch.tensor(y), f"y of data[{i}]")
