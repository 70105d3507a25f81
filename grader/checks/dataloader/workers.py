"""Start methods for the real workers of a `DataLoader`, which are as cheap as forking."""

import importlib.util
import multiprocessing
import os
import pickle
import sys
from multiprocessing.context import BaseContext
from types import ModuleType
from typing import Any
from unittest import mock

from grader.checks.dataloader import _compat
from grader.checks.dataloader.report import expect_picklable

__all__ = ["FORKED", "PICKLED", "imported_anew"]

FORKED: str = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
"""The cheaper start method that this system has: a worker that is spawned imports torch anew.

Example:
    def test_two_workers(answer):
        loader = DataLoader(answer.Squares(), None, num_workers=2, multiprocessing_context=FORKED)
        expect_equal(list(loader), [0, 1, 4, 9], "the squares from two workers")
"""

PICKLED: BaseContext = (
    _compat.PickledContext() if hasattr(os, "fork") else multiprocessing.get_context("spawn")
)
"""Start workers as "spawn" does: what they work on is pickled. Without the seconds that importing takes.

Example:
    def test_workers_that_get_it_by_pickle(answer):
        loader = DataLoader(answer.Squares(), None, num_workers=2, multiprocessing_context=PICKLED)
        expect_equal(list(loader), [0, 1, 4, 9], "the squares from two workers")
"""


def imported_anew(answer: ModuleType, what: str, *values: Any) -> tuple[Any, ...]:
    """The answer's module as a spawned worker would import it, and the values as it would get them.

    What an answer keeps in its module is gone there. It takes milliseconds; a spawned worker takes seconds.

    Example:
        def test_a_spawned_worker_has_it(answer):
            anew, squares = imported_anew(answer, "dataset", answer.Squares())
            expect_equal(squares[2], 4, "Squares()[2] in a spawned worker")
    """
    for value in values:
        expect_picklable(what, value)
    pickled = pickle.dumps(values)
    spec = importlib.util.spec_from_file_location(answer.__name__, str(answer.__file__))
    assert spec and spec.loader
    anew = importlib.util.module_from_spec(spec)
    anew.__class__ = answer.__class__  # of a project, which imports its files when they are named
    with mock.patch.dict(sys.modules, {answer.__name__: anew}):
        for part in [name for name in sys.modules if name.startswith(f"{answer.__name__}.")]:
            del sys.modules[part]
        spec.loader.exec_module(anew)
        return anew, *pickle.loads(pickled)
