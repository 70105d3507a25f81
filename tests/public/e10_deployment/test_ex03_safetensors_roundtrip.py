"""The contract of safetensors_roundtrip."""

import json
import tempfile
from pathlib import Path

import pytest
import safetensors
import torch

from grader.checks import expect_equal, expect_raises

ABOUT = {"step": 500, "classes": ["cat", "dog", "eel"]}
WRITTEN = "shared", "metadata"  # other entries of the header mean nothing


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "model.safetensors"


def test_worked_example(answer, path):
    """The worked example of the statement comes out: the tied weight is in the file once, and tied again."""
    weight = torch.arange(6.0).view(3, 2)
    answer.save_tensors(path, {"embedding": weight, "output": weight, "bias": torch.zeros(3)}, ABOUT)
    with safetensors.safe_open(path, "pt") as file:
        expect_equal(sorted(file.keys()), ["bias", "embedding"], "the names in the file")
        header = {key: json.loads(t) for key, t in (file.metadata() or {}).items() if key in WRITTEN}
    expect_equal(
        header, {"shared": {"output": "embedding"}, "metadata": ABOUT}, "the header's metadata, from JSON,"
    )
    loaded, about = answer.load_tensors(path)
    expect_equal(loaded["output"], weight, 'loaded["output"]')
    expect_equal(about, ABOUT, "the metadata that is loaded")
    loaded["embedding"][0, 0] = 7.0
    expect_equal(
        loaded["output"][0, 0], torch.tensor(7.0), 'loaded["output"][0, 0] after writing to the embedding'
    )


def test_metadata_that_changes(answer, path):
    """Metadata that would not come back equal is refused."""
    call = 'save_tensors(path, {}, {"size": (1, 2)})'
    expect_raises((TypeError, ValueError), lambda: answer.save_tensors(path, {}, {"size": (1, 2)}), call)


def test_no_file(answer, path):
    """A file that is not there raises FileNotFoundError."""
    expect_raises(FileNotFoundError, lambda: answer.load_tensors(path), "load_tensors(path)")
