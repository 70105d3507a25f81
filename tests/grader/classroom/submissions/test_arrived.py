"""Times of arrival, over the runs of a term: told, kept, changed and withdrawn."""

import json

import pytest

from grader.classroom.submissions.arrived import arrived, notes
from grader.classroom.submissions.class_folder import Submission
from grader.core.errors import KataError
from grader.course.roster import Roster, Student
from grader.records import arrivals
from grader.records.arrivals import Arrival
from tests.grader.support.little_course import CATALOG

NOON, NIGHT = "2026-11-20 12:00:00 UTC", "2026-11-20 23:00:30 UTC"
STAMPED = Submission("ada", {"first": b""}, times={"e01_one": NOON, "e02_two": NOON})
KEY = ("ada", "e01_one")
RUNS = [  # what a run brings, what a table tells, what is then known of ada's first assignment
    (STAMPED, {}, Arrival(stamped=NOON)),
    (Submission("ada", {"third": b""}), {}, Arrival(stamped=NOON)),
    (Submission("ada", {"first": b""}, late=True), {}, Arrival(stamped=NOON, late=True)),
    (Submission("ada"), {KEY: NIGHT}, Arrival(NIGHT, NOON, late=True)),
    (Submission("ada", {"first": b""}, late=False), {}, Arrival(NIGHT, NOON, late=False)),
    (STAMPED, {("bob", "e01_one"): NOON}, Arrival(NIGHT, NOON, late=False)),
    (Submission("ada"), {KEY: ""}, Arrival("", NOON, late=False, withdrawn=NIGHT)),
    (Submission("ada"), {KEY: ""}, Arrival("", NOON, late=False, withdrawn=NIGHT)),
]


def test_what_a_run_does_not_tell_stays(tmp_path):
    told = []
    for submission, table, wanted in RUNS:
        before = arrivals.kept(tmp_path)
        after = arrived(before, [submission], CATALOG.exercises, table)
        arrivals.keep(tmp_path, after)
        assert arrivals.kept(tmp_path) == after
        assert after[KEY] == wanted
        assert after.get(("ada", "e02_two")) in (None, Arrival(late=None)), "not answered there"
        told += notes(before, after, table)
    assert told == [
        "1 time of arrival changed: ada e01_one 20 Nov 2026 12:00Z → 20 Nov 2026 23:00:30Z",
        "1 time of arrival entered",
        "1 time of arrival changed: ada e01_one 20 Nov 2026 23:00:30Z → 20 Nov 2026 12:00Z",
    ]


def test_only_what_is_judged_now_came_now(tmp_path):
    assert arrived({}, [STAMPED], CATALOG.exercises[-1:], {}) == {}


def test_nbgraders_stamps_are_read_as_nbgrader_does(tmp_path):
    stamps = {"2026-11-20 12:00:00": NOON, "2026-11-20 13:00:00.250 +0100": "2026-11-20 12:00:00.250000 UTC"}
    for text, wanted in {**stamps, "soon": "soon"}.items():
        submission = Submission("ada", {"first": b""}, times={"e01_one": text})
        found = arrived({}, [submission], CATALOG.exercises, {})
        assert found[KEY].stamped == wanted
        arrivals.keep(tmp_path, found)
        assert (arrivals.kept(tmp_path) == found) is (text in stamps), "what is no time is not kept"


def test_marks_are_told_where_they_change():
    known = {KEY: Arrival(late=True), ("bob", "e01_one"): Arrival(late=False)}
    after = {KEY: Arrival(late=False), ("bob", "e01_one"): Arrival(NOON)}
    assert arrivals.changed(known, after) == ["ada e01_one LATE → not LATE"]


def test_an_alias_that_the_roster_gets_later_keeps_the_time(tmp_path):
    arrivals.keep(
        tmp_path, {("lovelaceada_12", "e01_one"): Arrival(NIGHT), ("bob", "e01_one"): Arrival(NOON)}
    )
    roster = Roster((Student("ada", aliases=("lovelaceada_12",)),))
    assert arrivals.kept(tmp_path, roster) == {KEY: Arrival(NIGHT), ("bob", "e01_one"): Arrival(NOON)}


@pytest.mark.parametrize("damage", ["", "[]", '{"ada": 3}', '{"ada": {"e01_one": {"when": 1}}}'])
def test_a_damaged_file_forgives_nobody(tmp_path, damage):
    (tmp_path / arrivals.FILE).write_text(damage)
    with pytest.raises(KataError, match="is damaged: restore a copy"):
        arrivals.kept(tmp_path)


def test_where_nothing_is_known_nothing_is_written(tmp_path):
    arrivals.keep(tmp_path, {})
    assert not [*tmp_path.iterdir()]
    arrivals.keep(tmp_path, {KEY: Arrival(NOON)})
    assert json.loads((tmp_path / arrivals.FILE).read_text()) == {"ada": {"e01_one": {"told": NOON}}}
