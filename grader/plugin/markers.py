"""What checks are marked with: their rung, what they need of a machine, and how long they may take."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from grader.course.exercise import SLOW_SECONDS, STEPS
from grader.protocol.check import CheckSpec

MARKERS = {
    "fine": "a check of the fine print; without it, a check is of the job",
    "of(function)": "is about this function alone, whose share of the job a broken rule costs",
    "refuses(*breakages)": "fails on the solution broken so: see `grader.authoring.breakages`",
    "gpu": "needs a CUDA device",
    "mps": "needs an Apple GPU",
    "multi_gpu": "needs two CUDA devices or more",
    "multi_process": "starts several ranks",
    "needs(*packages)": "needs packages that torchkata does without",
    "slow": "takes seconds: compiles with inductor, or starts fresh processes",
}


def is_fine(item: pytest.Item) -> bool:
    """Whether this check is of the fine print."""
    return item.get_closest_marker("fine") is not None


def needs_ranks(items: Iterable[pytest.Item]) -> bool:
    """Whether one of these checks starts ranks."""
    return any(item.get_closest_marker("multi_process") for item in items)


def needs_device(items: Iterable[pytest.Item]) -> bool:
    """Whether one of these checks takes the simulated device."""
    return any("device" in getattr(item, "fixturenames", ()) for item in items)


def needs_gpu(item: pytest.Item) -> bool:
    """Whether this check computes on CUDA devices."""
    return any(item.get_closest_marker(name) for name in ("gpu", "multi_gpu"))


def is_slow(items: Iterable[pytest.Item]) -> bool:
    """Whether one of these checks takes seconds."""
    return any(item.get_closest_marker("slow") for item in items)


def seconds_for(items: Iterable[pytest.Item], seconds: float) -> float:
    """How long the checks of an exercise may take that has so many seconds: longer where one is slow."""
    return seconds + (SLOW_SECONDS if is_slow(items) else 0.0)


def spec_of(item: pytest.Item) -> CheckSpec:
    """What is told of a check before any answer is judged."""
    about = item.get_closest_marker("of")
    of = about.args[0] if about else ""
    refuses = tuple(breakage for mark in item.iter_markers("refuses") for breakage in mark.args)
    return CheckSpec(
        check_id(item.path, item.name), title_of(item), lacking(item), is_fine(item), of, refuses
    )


def check_id(suite: Path, name: str) -> str:
    """What a check is called everywhere: ``hidden::test_values[float16]``."""
    folder = suite.parent.parent if suite.parent.name == STEPS else suite.parent
    return f"{folder.parent.name}::{name}"


def title_of(item: pytest.Item) -> str:
    """The check's sentence: its test's docstring on one line."""
    text = getattr(getattr(item, "function", None), "__doc__", None) or item.name
    return " ".join(text.split())


def lacking(item: pytest.Item) -> str | None:
    """What this machine lacks for a check, or None where it can run."""
    gpus = torch.cuda.device_count()  # asks no driver, which would not survive a fork
    if item.get_closest_marker("gpu") and gpus < 1:
        return "needs pytest itself and a CUDA device"
    if item.get_closest_marker("multi_gpu") and gpus < 2:
        return "needs pytest itself and two CUDA devices"
    if item.get_closest_marker("mps") and not torch.backends.mps.is_available():
        return "needs an Apple GPU"
    if packages := [name for mark in item.iter_markers("needs") for name in mark.args if not find_spec(name)]:
        return f"needs `pip install {' '.join(packages)}`"
    if item.get_closest_marker("multi_process"):
        from grader.checks import distributed

        return distributed.is_available()
    return None
