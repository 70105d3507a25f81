"""Names of the course's roster, as nbgrader shows them."""

import pytest

from grader.classroom.nbgrader import gradebook
from grader.course.roster import Roster, Student
from tests.grader.classroom.nbgrader.test_gradebook import CATALOG, PASSED, opened, student

pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra: torchkata[class]")


def test_the_rosters_names_are_nbgraders(tmp_path):
    db = str(tmp_path / "gradebook.db")
    records = [student("ada", first=PASSED), student("bob", first=PASSED), student("eve", first=PASSED)]
    roster = Roster((Student("ada", "Ada King Lovelace", "ada@x.org"), Student("bob", "Boole, George")))
    gradebook.write(db, records, CATALOG)
    with opened(db) as book:
        book.update_or_create_student("bob", email="kept@x.org")
    assert gradebook.write(db, records, CATALOG, roster=roster) == []
    with opened(db) as book:
        told = {s.id: (s.first_name, s.last_name, s.email) for s in book.students}
    assert told == {
        "ada": ("Ada King", "Lovelace", "ada@x.org"),
        "bob": ("George", "Boole", "kept@x.org"),
        "eve": (None, None, None),
    }
