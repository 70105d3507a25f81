"""When an assignment of the course is due, the gradebook knows."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from grader.classroom.export import to_know
from grader.classroom.nbgrader import connection, corrections, gradebook
from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise
from grader.records.records import ExerciseRecord, StudentRecord

pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

DUE = datetime(2026, 11, 20, 23, 59, tzinfo=timezone(timedelta(hours=1)))
ONE, TWO = (
    Exercise(slug, section, 1, slug, "build", "core", 2, 1, (), (), (), "")
    for slug, section in (("first", "e01_one"), ("second", "e02_two"))
)
SET = replace(ONE, set_in="week1")


def course(due: datetime | None) -> Catalog:
    sections = (Section("e01_one", "One", (SET,)), Section("e02_two", "Two", (TWO,)))
    return Catalog(sections, (Section("week1", "Week 1", (SET,), due),))


def test_a_due_date_of_the_course_is_the_assignments(tmp_path: Path) -> None:
    url = str(tmp_path / "gradebook.db")
    passed = ExerciseRecord("passed", 2.0, 2.0)
    records = [StudentRecord("ada", 7, {"first": passed, "second": passed})]
    for due in (DUE, None):  # one that is not said stays what it is
        assert gradebook.write(url, records, course(due)) == []
        with connection.opened(connection.place(url)) as book:
            assert {one.name: one.duedate for one in book.assignments} == {
                "week1": datetime(2026, 11, 20, 22, 59),
                "e02_two": None,
            }
        assert corrections.read(url, course(due)).redated == []
    later = corrections.read(url, course(DUE + timedelta(days=1)))
    assert later.redated == ["week1"]
    (line,) = to_know(tmp_path, [], later, course(DUE))
    assert line.startswith("due at another time in the gradebook") and line.endswith(": week1")
