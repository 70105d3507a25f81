"""The contract of safe_load."""

import pickle
import tempfile
from pathlib import Path

import pytest
import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "weights.pt"


class Hostile:
    """Makes a folder when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return Path.mkdir, (self.target,)


def test_worked_example(answer, path):
    """The worked example of the statement comes out: 16, from the model itself."""
    torch.save({"weight": torch.tensor([[3.0, 4.0]]), "bias": torch.tensor([5.0])}, path)
    model = nn.Linear(2, 1)
    loaded = answer.safe_load(model, path)
    expect_that(loaded is model, "safe_load(model, path) returns something else than the model", yours=loaded)
    yours = loaded(torch.tensor([[1.0, 2.0]])).detach()
    expect_close(yours, torch.tensor([[16.0]]), "safe_load(model, path)(x)")
    expect_that(not model.training, "the model is still in training mode after safe_load(model, path)")


def test_hostile_file(answer, path):
    """A file that would run code raises pickle.UnpicklingError, and the code does not run."""
    target = path.parent / "pwned"
    torch.save({"weight": torch.ones(1, 2), "bias": Hostile(target)}, path)
    call = "safe_load(model, path) of a hostile file"
    expect_raises(pickle.UnpicklingError, lambda: answer.safe_load(nn.Linear(2, 1), path), call)
    expect_that(not target.exists(), f"code from the file has run in {call}")


def test_no_file(answer, path):
    """A file that is not there raises FileNotFoundError."""
    expect_raises(
        FileNotFoundError, lambda: answer.safe_load(nn.Linear(2, 1), path), "safe_load(model, path)"
    )


def test_other_names(answer, path):
    """A missing weight is a RuntimeError that names it."""
    torch.save({"weight": torch.ones(1, 2)}, path)
    call = "safe_load(model, path) of a file without the bias"
    expect_raises(RuntimeError, lambda: answer.safe_load(nn.Linear(2, 1), path), call, words="bias")


def test_whole_path_types(answer, path):
    """The path may be a str."""
    torch.save(nn.Linear(2, 1).state_dict(), path)
    expect_equal(
        type(answer.safe_load(nn.Linear(2, 1), str(path))), nn.Linear, "type(safe_load(model, path))"
    )
