"""What the warm parent leaves behind for its children."""

import sys
import warnings
from contextlib import suppress
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import pytest

from grader.core import timeout
from grader.course.catalog import load
from grader.course.exercise import SLOW_SECONDS
from grader.engine import preload
from grader.engine.check_court import CheckCourt
from grader.plugin import plugin
from grader.protocol.check import CheckSpec
from grader.protocol.job import Job


def test_a_spawned_worker_finds_no_stub():
    places = list(sys.path)
    exercise = load().exercise("merge_heads")
    preload.import_stubs([exercise])
    assert sys.path == places
    assert exercise.slug not in sys.modules


@pytest.mark.parametrize(("hidden", "counts"), [("", 1), (None, 0), ("0", 0)])
def test_gpus_are_counted_beforehand_where_they_are_hidden(monkeypatch, hidden, counts):
    asked = []

    def is_available():
        asked.append(True)
        warnings.warn("CUDA initialization: no device", stacklevel=1)
        return False

    monkeypatch.setattr(preload.torch.cuda, "is_available", is_available)
    if hidden is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        preload._count_gpus()
    assert len(asked) == counts


def test_a_suite_is_warmed_up_once_and_by_itself():
    calls = []
    suite = ModuleType("suite")
    suite.warm_up = lambda: calls.append("export")
    warm = CheckCourt((load().exercise("merge_heads"),), confined=False)
    warm.suites.modules["export_program"] = [ModuleType("public"), suite]
    warm.suites.imported["export_program"] = {}
    warm.warm_up_for("merge_heads")
    assert not calls
    warm.warm_up_for("export_program")
    warm.warm_up_for("export_program")
    assert calls == ["export"] and warm.guard.broken("export_program") is None


def test_what_goes_wrong_before_a_child_is_left_to_it():
    calls = []
    suite = ModuleType("suite")
    suite.warm_up = lambda: calls.append("export") or 1 / 0
    warm = CheckCourt((load().exercise("merge_heads"),), confined=False)
    warm.suites.modules["export_program"] = [suite]
    warm.suites.imported["export_program"] = {}
    before = warm.guard
    for _ in range(2):
        with suppress(ZeroDivisionError):
            warm.warm_up_for("export_program")
    assert calls == ["export"], "tried once, not for every answer"
    assert warm.guard is not before, "what it did until then is known"
    warm.warm_up_for("unheard_of")
    assert warm.guard.broken("export_program") is None


def checks(*marked):
    """Checks of `pad_collate`, with these markers."""
    path = load().exercise("pad_collate").file("hidden")
    config = SimpleNamespace(stash={plugin.JUDGED: SimpleNamespace(seconds=None)}, getoption=lambda *_: False)
    for number, markers in enumerate(marked):
        item = SimpleNamespace(path=path, config=config, get_closest_marker=markers.count)
        yield SimpleNamespace(spec=CheckSpec(str(number), ""), item=item)


def test_only_a_slow_check_may_take_longer(monkeypatch):
    plain, slow = checks([], ["slow"])
    side = object.__new__(CheckCourt)
    side.suites = SimpleNamespace(checks={"pad_collate": [plain, slow]})
    job = Job(load().exercise("pad_collate"), b"", 0)
    assert [side.seconds(job), side.seconds(replace(job, only=("0",)))] == [10.0 + SLOW_SECONDS, 10.0]
    armed = []
    monkeypatch.setattr(timeout.signal, "setitimer", lambda _, seconds: armed.append(seconds))
    monkeypatch.setattr(timeout.sys, "gettrace", lambda: None)
    for check in (plain, slow):
        with plugin.time_limit(check.item):
            pass
    assert armed == [10.0, 0, 10.0 + SLOW_SECONDS, 0]
