"""The suite of weights_to_a_file."""

import tempfile
from functools import partial
from pathlib import Path
from unittest import mock

import torch
from torch import nn

from grader.checks.contract import Contract, given


def run(save, load, weight):
    """The weight of a new model that has read the file of another; the file says that it was on a GPU."""
    trained, new = (nn.Linear(*weight.shape[::-1], bias=False) for _ in range(2))
    trained.weight, new.weight = nn.Parameter(weight.clone()), nn.Parameter(torch.full_like(weight, 0.5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.pt"
        with mock.patch.object(torch.serialization, "location_tag", lambda _storage: "cuda:7"):
            save(trained, path)
        load(new, path)
    return new.weight.detach()


def save(model, path, whole=False):
    torch.save(model if whole else model.state_dict(), path)


def load(model, path, where="cpu", copy=True):
    state = torch.load(path, map_location=where, weights_only=True)
    if copy:
        model.load_state_dict(state)


contract = Contract(
    "load_weights(model, path)",
    reference=partial(run, save, load),
    inputs=lambda gen: {
        f"{rows} x {columns} weights": given(torch.randn(rows, columns, generator=gen))
        for rows, columns in [(1, 2), (3, 4), (5, 1)]
    },
    suspects={
        'the file comes from a machine with a GPU: hand map_location="cpu" to torch.load': partial(
            run, save, partial(load, where=None)
        ),
        "the file holds a whole model, which is code: save model.state_dict()": partial(
            run, partial(save, whole=True), load
        ),
        "the model still has its own weights: call model.load_state_dict(…)": partial(
            run, save, partial(load, copy=False)
        ),
    },
    use=lambda answer, weight: run(answer.save_weights, answer.load_weights, weight),
)
