"""The worked example of workers_that_die."""

import pytest
import torch
from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_raises
from grader.checks.dataloader.workers import FORKED

LINES = ['{"x": [1, 2], "name": "cat"}', '{"x": [3], "name": "cow"}']


def test_rows(answer):
    """A good row is its numbers and the place of its name, and a row of an unknown name is a BadRow."""
    data = answer.JsonRows(LINES, names=["cat", "dog"])
    expect_equal(data[0], (torch.tensor([1.0, 2.0]), 0), "data[0]")
    expect_raises(answer.BadRow, lambda: data[1], "data[1], of the unknown name 'cow',", words="1")


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_read(answer):
    """What two workers have read is known in the main process."""
    data = answer.JsonRows(LINES[:1] * 3, names=["cat", "dog"])
    list(DataLoader(data, None, num_workers=2, multiprocessing_context=FORKED))
    expect_equal(data.read.clone(), torch.tensor([True] * 3), "data.read after an epoch with two workers")
