"""The contract of export_program."""

import tempfile
from pathlib import Path

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_raises, expect_that


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "model.pt2"


def test_worked_example(answer, path):
    """The worked example of the statement comes out, and the model is in training mode afterwards."""
    model = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5))
    nn.init.constant_(model[0].weight, 2.0)
    nn.init.constant_(model[0].bias, 1.0)
    answer.export_program(model, torch.tensor([[7.0]]), path)
    expect_that(path.is_file(), "export_program(model, example, path) writes no file")
    yours = answer.load_program(path)(torch.tensor([[1.0], [2.0], [3.0]]))
    expect_close(yours, torch.tensor([[3.0], [5.0], [7.0]]), "load_program(path)(x)", dims="rows outputs")
    expect_that(
        model.training and model[1].training, "the model is in evaluation mode after export_program(…)"
    )


def test_no_file(answer, path):
    """A file that is not there raises FileNotFoundError."""
    expect_raises(FileNotFoundError, lambda: answer.load_program(path), "load_program(path)")
