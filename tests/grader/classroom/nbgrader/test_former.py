"""A gradebook and its course after a name has become an alias: nothing that a person entered is lost."""

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grader.classroom.nbgrader import former, gradebook
from grader.classroom.submissions.generated import MARK
from grader.course.cell_names import answer_cell
from grader.course.roster import NOBODY, Roster, Student
from tests.grader.classroom.nbgrader.test_gradebook import CATALOG, PARTIAL, PASSED, student

api = pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra: torchkata[class]")

pytestmark = pytest.mark.slow

ROSTER = Roster((Student("ada", "Ada Lovelace", aliases=("countess",)), Student("bob")))
TIME = datetime(2026, 11, 20, 12)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """countess has three exercises, ada one of them; bob is somebody else."""
    file = tmp_path_factory.mktemp("made") / "gradebook.db"
    records = [
        student("countess", first=PARTIAL, second=PASSED, third=PASSED),
        student("ada", first=PASSED),
        student("bob", first=PASSED),
    ]
    gradebook.write(str(file), records, CATALOG)
    with api.Gradebook(f"sqlite:///{file}") as book:
        for who, time in (("countess", TIME), ("bob", None)):
            work = book.find_submission("e01_one", who)
            work.timestamp, work.extension = time, timedelta(days=1) if time else None
        book.db.commit()
    return file


@pytest.fixture
def db(made: Path, tmp_path: Path) -> str:
    return str(shutil.copy(made, tmp_path / "gradebook.db"))


def by_hand(db: str, who: str, slug: str, score: float | None, comment: str = "", extra: float = 0.0) -> None:
    with api.Gradebook(f"sqlite:///{db}") as book:
        section = "e02_two" if slug == "third" else "e01_one"
        grade = book.find_grade(slug, section, section, who)
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = score, extra, False
        remarks = {
            remark.name: remark for remark in book.find_submission_notebook(section, section, who).comments
        }
        remarks[answer_cell(slug)].manual_comment = comment
        book.db.commit()


def held(db: str) -> dict[tuple[str, str], tuple[float | None, float | None, float | None]]:
    """By student and exercise: our score, the one by hand, and extra credit."""
    with api.Gradebook(f"sqlite:///{db}") as book:
        grades = book.db.query(api.Grade).all()
        return {
            (g.student.id, g.name): (g.auto_score, g.manual_score, g.extra_credit or None) for g in grades
        }


def test_the_rows_become_the_students_with_all_that_was_entered(db):
    by_hand(db, "countess", "first", 1.0, "see me")
    by_hand(db, "countess", "third", 2.0, "well done", extra=0.5)
    assert former.settle(db, NOBODY) == []
    assert former.settle(db, ROSTER) == ["gradebook: countess is ada now"]
    assert former.settle(db, ROSTER) == []
    found = {key: value for key, value in held(db).items() if key[0] != "bob"}
    assert found == {
        ("ada", "first"): (1.5, 1.0, None),
        ("ada", "second"): (None, None, None),
        ("ada", "third"): (2.0, 2.0, 0.5),
    }
    with api.Gradebook(f"sqlite:///{db}") as book:
        assert {one.id for one in book.students} == {"ada", "bob"}
        assert {remark.manual_comment for remark in book.db.query(api.Comment)} >= {"see me", "well done"}
        assert len(book.db.query(api.SubmittedAssignment).all()) == 3
        work = book.find_submission("e01_one", "ada")
        assert (work.timestamp, work.extension) == (TIME, timedelta(days=1))


def test_what_a_person_entered_for_both_is_left_and_told(db):
    by_hand(db, "countess", "first", 1.0)
    by_hand(db, "ada", "first", 0.0)
    (line,) = former.settle(db, ROSTER)
    both = "countess and ada both have something by hand in e01_one"
    assert line == f"gradebook: {both}: settle it in formgrader, and run again"
    assert held(db)["countess", "first"][1] == 1.0 and held(db)["ada", "first"][1] == 0.0
    assert ("ada", "third") in held(db), "what nobody contends is ada's"
    by_hand(db, "ada", "first", 1.0)
    assert former.settle(db, ROSTER) == ["gradebook: countess is ada now"]


def notebook(text: str, **about: object) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text, "metadata": {}}], "metadata": about})


def test_the_courses_folders_follow_and_no_hand_in_is_lost(db, tmp_path):
    files = {
        "submitted/countess/e01_one/e01_one.ipynb": notebook("handed in"),
        "submitted/ada/e01_one/e01_one.ipynb": notebook("", **{MARK: {}}),
        "submitted/countess/e02_two/e02_two.ipynb": notebook("theirs"),
        "submitted/ada/e02_two/e02_two.ipynb": notebook("mine"),
        "submitted/bob/e02_two/e02_two.ipynb": notebook("bob"),
        "autograded/countess/e01_one/e01_one.ipynb": notebook("handed in"),
        "autograded/ada/e01_one/e01_one.ipynb": notebook("old"),
        "feedback/countess/e01_one/e01_one.html": "<p>",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "submitted" / "lovelaceada_1").symlink_to(tmp_path / "submitted/bob")
    lines = [line.replace(f"{tmp_path}/", "") for line in former.settle(db, ROSTER)]
    assert lines[1:] == [
        "submitted/countess: e02_two is in submitted/ada otherwise: take one away, and run again",
        "autograded/countess is autograded/ada now",
        "feedback/countess is feedback/ada now",
    ]
    left = {str(file.relative_to(tmp_path)): file.read_text() for file in tmp_path.glob("*/[abc]*/*/*")}
    assert left == {
        "submitted/ada/e01_one/e01_one.ipynb": notebook("handed in"),
        "submitted/ada/e02_two/e02_two.ipynb": notebook("mine"),
        "submitted/countess/e02_two/e02_two.ipynb": notebook("theirs"),
        "submitted/bob/e02_two/e02_two.ipynb": notebook("bob"),
        "autograded/ada/e01_one/e01_one.ipynb": notebook("old"),
        "feedback/ada/e01_one/e01_one.html": "<p>",
    }
    shutil.rmtree(tmp_path / "submitted/ada/e02_two")
    assert [line.replace(f"{tmp_path}/", "") for line in former.settle(db, ROSTER)] == [
        "submitted/countess is submitted/ada now"
    ]
