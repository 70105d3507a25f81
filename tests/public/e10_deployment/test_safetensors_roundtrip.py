"""The worked example of safetensors_roundtrip."""

import json

import safetensors
import torch

from grader.checks import expect_equal, expect_that, shares_storage

ABOUT = {"step": 500, "classes": ["cat", "dog", "eel"]}


def test_worked_example(answer, tmp_path):
    """The worked example of the statement comes out: the tied weight is in the file once, and tied again."""
    weight, path = torch.arange(6.0).view(3, 2), tmp_path / "model.safetensors"
    answer.save_tensors(path, {"embedding": weight, "output": weight, "bias": torch.zeros(3)}, ABOUT)
    with safetensors.safe_open(path, "pt") as file:
        suspects = {
            "a tensor is in it under each of its names: the first is enough": lambda: [
                "bias",
                "embedding",
                "output",
            ],
            "a tensor is to be in it under the first of its names, and not the last": lambda: [
                "bias",
                "output",
            ],
        }
        expect_equal(sorted(file.keys()), ["bias", "embedding"], "the names in the file", suspects=suspects)
        header = {key: json.loads(text) for key, text in file.metadata().items() if key != "format"}
    expect_equal(header, {"shared": {"output": "embedding"}, "metadata": ABOUT}, "the header, from JSON,")
    loaded, about = answer.load_tensors(path)
    expect_equal(about, ABOUT, "the metadata that is loaded")
    expect_equal(loaded.get("output"), weight, 'loaded["output"]')
    tied = shares_storage(loaded["output"], loaded["embedding"])
    expect_that(tied, 'loaded["output"] and loaded["embedding"] are two tensors: they are to share memory')
