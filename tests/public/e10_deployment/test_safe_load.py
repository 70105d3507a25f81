"""The worked example of safe_load, and a hostile file."""

import pickle
from pathlib import Path

import torch
from torch import nn

from grader.checks import expect_close, expect_raises, expect_that


class Hostile:
    """Makes a folder when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return Path.mkdir, (self.target,)


def test_worked_example(answer, tmp_path):
    """The worked example of the statement comes out: 16, from the model itself."""
    path, model = tmp_path / "weights.pt", nn.Linear(2, 1)
    torch.save({"weight": torch.tensor([[3.0, 4.0]]), "bias": torch.tensor([5.0])}, path)
    loaded = answer.safe_load(model, path)
    expect_that(loaded is model, "safe_load(model, path) returns something else than the model", yours=loaded)
    yours = loaded(torch.tensor([[1.0, 2.0]])).detach()
    expect_close(yours, torch.tensor([[16.0]]), "safe_load(model, path)(x)")


def test_hostile_file(answer, tmp_path):
    """A file that would run code raises pickle.UnpicklingError, and the code does not run."""
    path, target = tmp_path / "weights.pt", tmp_path / "pwned"
    torch.save({"weight": torch.ones(1, 2), "bias": Hostile(target)}, path)
    call = "safe_load(model, path) of a hostile file"
    try:
        expect_raises(pickle.UnpicklingError, lambda: answer.safe_load(nn.Linear(2, 1), path), call)
    finally:
        expect_that(not target.exists(), f"code from the file has run in {call}", likely="weights_only=False")
