"""What bends the judging is named: hooks, and objects of the grader's own that were changed."""

import sys
import threading

import pytest

from grader.course.paths import ROOT
from grader.engine.integrity import hooks, lookout
from grader.engine.integrity.guard import Guard
from grader.plugin.load_answer import Answers
from grader.plugin.plugin import Judged


class AnyHook:
    """A hook that claims to be whatever it is compared with."""

    def __eq__(self, other):
        return True

    def __call__(self, *_):
        return None


@pytest.mark.parametrize("module", [sys, threading], ids=lambda m: m.__name__)
@pytest.mark.parametrize("kind", ["trace", "profile"])
def test_a_hook_is_named_and_what_was_there_before_is_put_back(module, kind):
    put = getattr(module, f"set{kind}")
    before = hooks.now()
    assert hooks.cleared(before) is None
    put(AnyHook())
    found, after = hooks.cleared(before), hooks.now()
    assert found == f"{module.__name__}.set{kind}"
    assert all(a is b for a, b in zip(after, before, strict=True))


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="Python 3.12 has it")
def test_a_tool_that_monitors_is_named_and_freed():
    before = hooks.now()
    tool = next(n for n in range(6) if sys.monitoring.get_tool(n) is None)
    sys.monitoring.use_tool_id(tool, "answer")
    sys.monitoring.set_events(tool, sys.monitoring.events.PY_START)
    assert hooks.cleared(before) == "sys.monitoring"
    assert sys.monitoring.get_tool(tool) is None and hooks.cleared(before) is None


@pytest.fixture
def judged():
    return Judged(Answers(ROOT), 0)


@pytest.fixture
def guard():
    return Guard({"double": [sys.modules[__name__]]})


def test_a_learners_debugger_is_no_tampering(judged):
    changed = {strict: lookout.remember((), [judged], strict=strict) for strict in (False, True)}
    before = sys.getprofile()
    sys.setprofile(AnyHook())
    try:
        assert changed[False]() is None
    finally:
        found = changed[True]()
        sys.setprofile(before)
    assert found == "hooks into Python by sys.setprofile"


def test_what_an_object_of_ours_stands_for_is_kept(judged):
    changed = lookout.remember((), [judged], strict=True)
    judged.seconds, judged.loaded["double"], judged.left = 1.0, sys, ["a setting"]
    judged.note = "an attribute more hides nothing"
    assert changed() is None
    judged.module = lambda exercise: sys
    assert changed() == "replaces grader.plugin.plugin.Judged.module"
    del judged.module
    judged.answers = Answers(ROOT)
    assert changed() == "replaces grader.plugin.plugin.Judged.answers"


def test_a_class_that_is_another_is_named(judged):
    changed = lookout.remember((), [judged], strict=True)
    judged.__class__ = type("Other", (Judged,), {})
    assert changed() == "replaces grader.plugin.plugin.Judged"


@pytest.mark.parametrize("name", ["broken", "_same_values", "_watched"])
def test_a_guard_that_looks_away_is_named(guard, name):
    changed = lookout.remember(guard.looks("double"), [guard], strict=True)
    setattr(guard.looks("double")[0], name, lambda: None)
    assert changed() == f"replaces grader.engine.integrity.spaces.Look.{name}"


def test_a_guard_that_takes_what_is_there_for_known_by_itself_is_nothing(guard, monkeypatch):
    changed = lookout.remember(guard.looks("double"), [guard], strict=True)
    for number in range(1000):  # until names lie elsewhere
        monkeypatch.setattr(sys.modules["json"], f"more_{number}", number, raising=False)
    before = [look._same_layout for look in guard.looks("double")]
    assert changed() is None and changed() is None
    assert before != [look._same_layout for look in guard.looks("double")], "there was something to take"


def test_words_and_spaces_cannot_be_changed(guard):
    watched = guard.looks("double")[0]._watched[0]
    for known in (watched, watched.space, watched.values):
        with pytest.raises(AttributeError):
            known.broken = lambda: None
        with pytest.raises(AttributeError):
            object.__setattr__(known, known._fields[0], None)
