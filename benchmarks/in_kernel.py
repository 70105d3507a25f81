"""Runs the suites in a notebook's kernel, for `throughput.py`: no fork, no collection, no sandbox.

This is what test cells of a course without torchkata would do, and as little as they could do.
"""

import importlib
import itertools
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch

from grader.checks import devices, rng
from grader.course.catalog import load
from grader.plugin.markers import lacking


def prepare() -> None:
    """What must come before the first cell, as in every run of the suites."""
    torch.set_num_threads(1)
    devices.install()


def run(slug: str) -> None:
    """Run both suites of an exercise on what the cells above define; raises at the end where one failed."""
    exercise = load().exercise(slug)
    failed = []
    for tree in ("public", "hidden"):
        suite = importlib.import_module(f"tests.{tree}.{exercise.section}.test_{exercise.stem}")
        for name, test in vars(suite).items():
            if name.startswith("test_") and not _cannot_run(suite, test):
                for arguments in _parameters(suite, test):
                    try:
                        _run(test, f"{tree}::{name}", arguments)
                    except (Exception, pytest.fail.Exception) as error:
                        failed.append(f"{name}: {error}")
    assert not failed, "\n".join(failed)


def _run(test: Any, name: str, arguments: dict[str, Any]) -> None:
    wanted = test.__code__.co_varnames[: test.__code__.co_argcount]
    rng.seed_globals(0, name)
    with pytest.MonkeyPatch.context() as monkeypatch:
        given = {
            "answer": sys.modules["__main__"],
            "gen": rng.generator(0, name),
            "device": devices.install(),
            "monkeypatch": monkeypatch,
            **arguments,
        }
        test(**{name: given[name] for name in wanted})


def _marks(suite: ModuleType, test: Any) -> list[pytest.Mark]:
    marks = getattr(suite, "pytestmark", [])
    marks = [*(marks if isinstance(marks, list) else [marks]), *getattr(test, "pytestmark", [])]
    return [mark if isinstance(mark, pytest.Mark) else mark.mark for mark in marks]


def _cannot_run(suite: ModuleType, test: Any) -> bool:
    names = {mark.name: mark for mark in _marks(suite, test)}

    class Item:
        get_closest_marker = staticmethod(names.get)

    return lacking(Item) is not None  # type: ignore[arg-type]


def _parameters(suite: ModuleType, test: Any) -> Iterator[dict[str, Any]]:
    """Every combination of the values that `parametrize` gives."""
    axes = []
    for mark in _marks(suite, test):
        if mark.name == "parametrize":
            names, values = mark.args
            names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
            rows = [getattr(value, "values", value if len(names) > 1 else (value,)) for value in values]
            axes.append([dict(zip(names, row, strict=True)) for row in rows])
    for combination in itertools.product(*axes):
        yield {name: value for row in combination for name, value in row.items()}
