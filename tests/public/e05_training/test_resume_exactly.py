"""The sampler of resume_exactly, and a checkpoint there and back."""

import tempfile
from pathlib import Path

import pytest
import torch

from grader.checks import expect_equal, expect_that


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "run.pt"


def test_sampler(answer):
    """Each epoch holds every row once, in batches of the size that was asked for."""
    sampler = answer.EpochSampler(size=5, batch=2, seed=0)
    for epoch in ("first", "second"):
        batches = [next(sampler) for _ in range(3)]
        suspects = {"an epoch ends with what is left, a shorter batch: it is not left out": lambda: [2, 2, 2]}
        call, rows = f"the sizes of the batches of the {epoch} epoch", torch.cat(batches)
        expect_equal([len(b) for b in batches], [2, 2, 1], call, suspects=suspects)
        likely = "rows are drawn with repetition: shuffle all of them once, for each epoch"
        once = len(rows.unique()) == len(rows)
        expect_that(once, f"a row comes twice in the {epoch} epoch", yours=f"{rows.tolist()}", likely=likely)
        expect_equal(rows.sort()[0], torch.arange(5), f"the rows of the {epoch} epoch, sorted,")


def test_there_and_back(answer, path):
    """What was saved comes back: weights, the step, and the random stream."""
    model = torch.nn.Linear(2, 1)
    answer.save_checkpoint(path, {"model": model}, 7)
    weight, drawn = model.weight.detach().clone(), torch.rand(3)
    torch.nn.init.zeros_(model.weight)
    here = torch.get_rng_state()
    on = torch.rand(3)
    torch.set_rng_state(here)
    suspects = {"this is the step after: what was saved comes back": lambda: 8}
    step, call = answer.load_checkpoint(path, {"model": model}), "load_checkpoint(path, things)"
    expect_equal(step, 7, call, suspects=suspects)
    expect_equal(model.weight.detach(), weight, "the weight after load_checkpoint(path, things)")
    suspects = {
        "the stream begins anew, at its seed: keep its state, torch.get_rng_state()": lambda: torch.rand(
            3, generator=torch.Generator().manual_seed(torch.initial_seed())
        ),
        "the stream goes on: give its state back, torch.set_rng_state(…)": lambda: on,
    }
    yours, call = torch.rand(3), "torch.rand(3) after load_checkpoint(path, things)"
    expect_equal(yours, drawn, call, suspects=suspects)
