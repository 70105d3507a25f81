"""Doing an exercise again: when it is due, what is kept, and then and now side by side."""

import io
from datetime import date, timedelta

import pytest
from rich.console import Console

from grader.core.errors import KataError
from grader.course import starts
from grader.learner import again, commands
from grader.learner.watch.events import Key
from grader.records import practice, progress
from grader.records.practice import Practice
from tests.grader.learner.test_watch_loop import PASSED, loop  # noqa: F401
from tests.grader.support.clone import SOLUTION, STUB

TODAY = date(2026, 3, 20)


def days_ago(*counts):
    return tuple(TODAY - timedelta(days=count) for count in counts)


def test_spacing_doubles_with_each_time_and_halves_with_each_hint():
    def spacing(practice):
        return (practice.due - practice.days[-1]).days

    assert spacing(Practice(days_ago(9))) == practice.FIRST
    assert spacing(Practice(days_ago(30, 9))) == 2 * practice.FIRST
    assert spacing(Practice(days_ago(60, 30, 9))) == 4 * practice.FIRST
    assert spacing(Practice(days_ago(30, 9), hints=1)) == practice.FIRST
    assert spacing(Practice(days_ago(9), hints=9)) == 1


@pytest.fixture
def course(loop):  # noqa: F811
    """Three exercises, of which double and twice are solved."""
    found = loop.watcher.catalog
    for number, slug in ((1, "double"), (2, "twice")):
        loop.file(number).write_text(SOLUTION)
        progress.remember({found.exercise(slug): "done"})
    return found


def test_what_has_been_due_the_longest_comes_first(course):
    seen = progress.states(course)
    with pytest.raises(KataError, match="nothing was solved yet"):
        practice.choose(course.exercises, seen, TODAY)
    practice.note(["double"], *days_ago(6))
    practice.note(["twice"], *days_ago(5))
    assert practice.choose(course.exercises, seen, TODAY).slug == "double"
    progress.keep("hints", {"twice": 1})
    practice.note(["twice"], *days_ago(4))  # after two times, with a hint: every four days
    practice.note(["double"], *days_ago(4))  # after two times: every eight days
    assert practice.choose(course.exercises, seen, TODAY).slug == "twice"
    with pytest.raises(KataError, match=r"not.* long enough ago; twice comes next, on 2026-03-20"):
        practice.choose(course.exercises, seen, TODAY - timedelta(days=1))


def test_what_was_solved_twice_in_a_day_counts_once_and_damage_counts_for_nothing(course):
    practice.note(["double", "double"], TODAY)
    practice.note(["double"], TODAY)
    assert practice.history()["double"].days == (TODAY,)
    progress.keep("practice", {"double": {"days": ["never"]}, "twice": 3, "thrice": {"days": []}})
    assert practice.history() == {}


def test_today_and_this_week_are_counted(course):
    assert practice.counts(TODAY) == ""
    practice.note(["double"], *days_ago(10))
    practice.note(["double", "twice"], TODAY)
    practice.note(["thrice"], *days_ago(6))
    assert practice.counts(TODAY) == "solved today 2, 1 of it again; in the last 7 days 3"


def test_only_what_was_not_solved_before_is_new(course):
    double = course.exercise("double")
    assert progress.remember({double: "works"}) == []
    assert progress.remember({double: "failing"}) == []
    assert progress.remember({double: "works"}) == ["double"]


@pytest.fixture
def begun(course, loop, monkeypatch, tmp_path):  # noqa: F811
    """Double is begun again."""
    monkeypatch.setattr(commands, "BACKUPS", tmp_path / "backups")
    monkeypatch.setattr(starts, "content", lambda exercise: STUB.encode())
    monkeypatch.setattr(again, "load", lambda: course)
    practice.note(["double"], *days_ago(90))
    assert again.begin().slug == "double"
    return loop


def test_the_start_is_put_back_and_the_answer_is_kept(begun, course):
    assert begun.file(1).read_text() == STUB
    kept = commands.BACKUPS / practice.begun().then
    assert kept.read_text() == SOLUTION
    assert again.finished(course) is None
    assert again.begin().slug == "double", "without a name the one that is open goes on"
    with pytest.raises(KataError, match="thrice is not solved yet"):
        again.begin("thrice")


def test_then_and_now_stand_side_by_side_once(begun, course):
    begun.file(1).write_text(SOLUTION.replace("return", "y = 1\n    return"))
    progress.remember({course.exercise("double"): "done"})
    out = Console(file=io.StringIO(), width=90)
    out.print(again.compared(again.finished(course)))
    shown = out.file.getvalue()
    assert f"then, {TODAY - timedelta(days=90)}" in shown and "now" in shown
    assert shown.count("def double") == 2 and shown.count("y = 1") == 1
    assert again.finished(course) is None


def test_watch_offers_the_comparison(begun):
    begun.save(1)
    begun.answer(PASSED)
    assert "done again; t shows then and now" in begun.shown()
    begun.watcher.handle(Key("t"))
    assert "then, " in begun.shown() and "now" in begun.shown()
    begun.watcher.handle(Key("t"))
    assert "nothing was done again" in begun.shown()


def test_what_is_not_here_any_more_is_never_finished(course):
    practice.begin("gone", "gone.py", TODAY)
    assert again.finished(course) is None
