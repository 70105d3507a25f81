"""The symptoms lead to what is there, and what they say to look at can be looked at."""

import copy
import datetime
import gc
import json
import multiprocessing
import os
import pickle
import resource
import sys
import threading
import time
import timeit
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from grader.course.catalog import load
from grader.course.lookup import symptoms
from grader.course.lookup.symptoms import Probe, Symptom

ALL = tuple(symptoms.read())


def test_there_are_many_and_each_has_its_own_page() -> None:
    assert len(ALL) >= 60
    assert len({one.slug for one in ALL}) == len(ALL)


@pytest.mark.parametrize("symptom", ALL, ids=lambda one: one.slug)
def test_a_symptom_has_other_words_something_to_look_at_and_somewhere_to_go(symptom: Symptom) -> None:
    known = {e.slug for e in load().exercises}
    assert symptom.slugs and set(symptom.slugs) <= known
    assert len(symptom.said) >= 3 and len(set(symptom.said)) == len(symptom.said)
    assert 1 <= len(symptom.checks) <= 7


class Model(nn.Sequential):
    """Any model: it has a weight, and layers."""

    @property
    def weight(self) -> torch.Tensor:
        return self[0].weight  # type: ignore[return-value]


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """What the tables take for granted: the names of a training script, after a step."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    rows, labels = torch.rand(12, 4), torch.randint(0, 3, (12,))
    dataset = TensorDataset(rows, labels)
    model, loss_fn = (
        Model(nn.Linear(4, 3), nn.ReLU(), nn.BatchNorm1d(3), nn.Linear(3, 3)),
        nn.CrossEntropyLoss(),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = rows[:6], labels[:6]
    loss_fn(model(x), y).backward()
    torch.save(model.state_dict(), "run.pt")
    scores = torch.rand(2, 5, 5)
    model.eval()
    with torch.random.fork_rng(devices=[]):
        yield {
            **{
                module.__name__: module
                for module in (copy, datetime, gc, json, multiprocessing, os, pickle, resource)
            },
            **{module.__name__: module for module in (sys, threading, time, timeit, torch)},
            **{"F": F, "np": np, "model": model, "other": copy.deepcopy(model), "optimizer": optimizer},
            **{"x": x, "y": y, "loss_fn": loss_fn, "loss": loss_fn(model(x), y), "step": lambda x, y: None},
            "scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 10),
            "scaler": torch.amp.GradScaler("cpu"),
            "dataset": dataset,
            "loader": DataLoader(dataset, batch_size=6),
            "test_loader": DataLoader(dataset, batch_size=5),
            "train_ids": [0, 1],
            "test_ids": [2],
            "scaler_mean": rows.mean(0),
            "before": model.weight.detach().clone(),
            "history": {"loss": [1.0]},
            **{
                "total": 0.0,
                "step_count": 3,
                "hidden": loss_fn(model(x), y),
                "outputs": [model(x)],
                "view": rows[:1],
            },
            **{"logits": scores, "mask": scores > 0.5, "tokens": labels, "images": torch.rand(2, 3, 8, 8)},
            **{"image": torch.rand(3, 8, 8), "array": rows.numpy()},
        }


CHECKS = {f"{one.slug}: {check.look}": check for one in ALL for check in one.checks}


@pytest.mark.parametrize(
    "place", [place for place, check in CHECKS.items() if not check.look.startswith("$ ")]
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_to_be_looked_at_can_be(place: str, names: dict[str, object]) -> None:
    check: Probe = CHECKS[place]
    switches = torch.is_anomaly_enabled(), torch.are_deterministic_algorithms_enabled()
    try:
        exec(compile(check.look, "<look>", "exec"), names)
    finally:
        torch.autograd.set_detect_anomaly(switches[0])
        torch.use_deterministic_algorithms(switches[1])
