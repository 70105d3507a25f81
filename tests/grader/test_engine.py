"""What the warm parent leaves behind for its children."""

import sys
from types import ModuleType

from grader import engine
from grader.catalog import load


def test_a_spawned_worker_finds_no_stub():
    places = list(sys.path)
    exercise = load().exercise("merge_heads")
    engine._import_stubs([exercise])
    assert sys.path == places
    assert exercise.stem not in sys.modules


def test_a_suite_is_warmed_up_once_and_by_itself():
    calls = []
    suite = ModuleType("suite")
    suite.warm_up = lambda: calls.append("export")
    warm = engine.Engine((load().exercise("merge_heads"),), confined=False)
    warm.suites.modules["export_program"] = [ModuleType("public"), suite]
    warm.warm_up_for("merge_heads")
    assert not calls
    warm.warm_up_for("export_program")
    warm.warm_up_for("export_program")
    assert calls == ["export"] and warm.guard.broken("export_program") is None
