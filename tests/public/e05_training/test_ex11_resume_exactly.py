"""The sampler of resume_exactly, and a checkpoint there and back."""

import tempfile
from pathlib import Path

import pytest
import torch

from grader.checks import expect_equal


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "run.pt"


def test_sampler(answer):
    """Each epoch holds every row once, in batches of the size that was asked for."""
    sampler = answer.EpochSampler(size=5, batch=2, seed=0)
    for epoch in ("first", "second"):
        batches = [next(sampler) for _ in range(3)]
        expect_equal([len(b) for b in batches], [2, 2, 1], f"the sizes of the batches of the {epoch} epoch")
        expect_equal(torch.cat(batches).sort()[0], torch.arange(5), f"the rows of the {epoch} epoch, sorted,")


def test_there_and_back(answer, path):
    """What was saved comes back: weights, the step, and the random stream."""
    model = torch.nn.Linear(2, 1)
    answer.save_checkpoint(path, {"model": model}, 7)
    weight, drawn = model.weight.detach().clone(), torch.rand(3)
    torch.nn.init.zeros_(model.weight)
    expect_equal(answer.load_checkpoint(path, {"model": model}), 7, "load_checkpoint(path, things)")
    expect_equal(model.weight.detach(), weight, "the weight after load_checkpoint(path, things)")
    expect_equal(torch.rand(3), drawn, "torch.rand(3) after load_checkpoint(path, things)")
