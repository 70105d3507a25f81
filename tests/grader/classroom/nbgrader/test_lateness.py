"""Late submissions: the course's own nbgrader plugin decides what they cost."""

import datetime
import shutil
from pathlib import Path

import pytest

from grader.classroom.nbgrader import gradebook
from grader.classroom.nbgrader.extensions import Extensions
from grader.core.errors import KataError
from grader.course.cell_names import answer_cell
from grader.course.roster import NOBODY, Roster, Student
from grader.records.arrivals import Arrival
from grader.records.records import ExerciseRecord
from tests.grader.classroom.nbgrader.test_gradebook import (
    CATALOG,
    NOT_GRADED,
    PARTIAL,
    PASSED,
    dump,
    opened,
    student,
)

pytestmark = pytest.mark.slow

pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra: torchkata[class]")

DUE = datetime.datetime(2026, 1, 2, 3, 0, 0)
AN_HOUR_LATE = Arrival("2026-01-02 04:00:00 UTC")
PER_HOUR = """
from nbgrader.plugins import BasePlugin

class PerHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        assert student_id != "eve", "no rule for eve"
        return {"bob": 99, "cat": -1, "dan": None}.get(student_id, total_seconds_late / 3600)
"""
ZERO = "c = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose first section is due, with a plugin of its own."""
    folder = tmp_path_factory.mktemp("course")
    gradebook.write(str(folder / "gradebook.db"), [], CATALOG)
    with opened(str(folder / "gradebook.db")) as book:
        book.add_assignment("e01_one", duedate=DUE)
    (folder / "per_hour.py").write_text(PER_HOUR)
    return folder


@pytest.fixture
def db(course: Path, tmp_path: Path) -> str:
    shutil.copytree(course, tmp_path / "course")
    return str(tmp_path / "course" / "gradebook.db")


def came(*names: str, arrival: Arrival = AN_HOUR_LATE) -> dict[tuple[str, str], Arrival]:
    return {(name, "e01_one"): arrival for name in names}


def configure(db: str, text: str) -> None:
    Path(db).with_name("nbgrader_config.py").write_text(text)


def plugin(db: str) -> None:
    configure(db, "c = get_config()\nc.AssignLatePenalties.plugin_class = 'per_hour.PerHour'\n")


def penalty(db: str, name: str, section: str = "e01_one") -> tuple[float | None, float, float]:
    """The penalty, the score and the seconds late."""
    with opened(db) as book:
        notebook = book.find_submission_notebook(section, section, name)
        return notebook.late_submission_penalty, notebook.score, notebook.assignment.total_seconds_late


def test_the_courses_plugin_decides(db):
    plugin(db)
    names = ("ada", "bob", "cat", "dan", "fay")
    arrivals = came(*names[:4])
    records = [student(name, first=PARTIAL, second=PASSED, third=PASSED) for name in names]
    assert gradebook.write(db, records, CATALOG, arrivals) == []
    assert penalty(db, "ada") == (1, 3.5, 3600)
    assert penalty(db, "bob") == (3.5, 3.5, 3600), "never more than the score"
    assert penalty(db, "cat") == (0, 3.5, 3600), "never a gift"
    assert penalty(db, "dan") == (None, 3.5, 3600)
    assert penalty(db, "fay") == (None, 3.5, 0)
    assert penalty(db, "ada", "e02_two") == (None, 2, 0)
    before = dump(db)
    assert gradebook.write(db, records, CATALOG, arrivals) == []
    assert dump(db) == before


def test_nbgraders_own_rule_and_its_export(db):
    configure(db, ZERO)
    gradebook.write(db, [student("ada", first=PARTIAL)], CATALOG, came("ada"))
    assert penalty(db, "ada") == (1.5, 1.5, 3600)
    with opened(db) as book:
        submission = book.find_submission("e01_one", "ada")
        assert submission.late_submission_penalty == 1.5
        assert submission.to_dict()["timestamp"] == "2026-01-02T04:00:00"


def test_without_a_rule_nothing_is_taken_off(db):
    gradebook.write(db, [student("ada", first=PARTIAL)], CATALOG, came("ada"))
    assert penalty(db, "ada") == (None, 1.5, 3600)


def test_a_manual_score_counts_and_a_regrade_of_one_exercise_keeps_the_penalty_right(db):
    plugin(db)
    configure(db, ZERO)
    gradebook.write(db, [student("ada", first=PARTIAL, second=PASSED)], CATALOG, came("ada"))
    assert penalty(db, "ada")[0] == 3.5
    with opened(db) as book:
        by_hand = book.find_grade("second", "e01_one", "e01_one", "ada")
        by_hand.manual_score, by_hand.needs_manual_grade = 4.0, False
        book.find_comment(answer_cell("second"), "e01_one", "e01_one", "ada").manual_comment = "well done"
        book.db.commit()
    gradebook.write(db, [student("ada", first=PASSED)], CATALOG)
    assert penalty(db, "ada") == (6, 6, 3600), "the time of the first run stays"
    with opened(db) as book:
        assert book.find_grade("second", "e01_one", "e01_one", "ada").manual_score == 4
        assert book.find_comment(answer_cell("second"), "e01_one", "e01_one", "ada").comment == "well done"


def test_an_extension_counts(db):
    configure(db, ZERO)
    gradebook.write(db, [student("ada", first=PASSED)], CATALOG)
    with opened(db) as book:
        book.grant_extension("e01_one", "ada", hours=2)
    gradebook.write(db, [student("ada", first=PASSED)], CATALOG, came("ada", arrival=Arrival(late=True)))
    assert penalty(db, "ada") == (None, 2, 0)
    gradebook.write(db, [student("ada", first=PASSED)], CATALOG, came("ada"))
    assert penalty(db, "ada") == (None, 2, 0)
    with opened(db) as book:
        book.grant_extension("e01_one", "ada", minutes=30)
    gradebook.write(db, [student("ada", first=NOT_GRADED)], CATALOG)
    assert penalty(db, "ada") == (0, 0, 1800)


def test_canvas_tells_only_that_it_was_late(db):
    configure(db, ZERO)
    record = student("ada", first=PASSED, third=PASSED)
    late = Arrival(late=True)
    gradebook.write(db, [record], CATALOG, {("ada", "e01_one"): late, ("ada", "e02_two"): late})
    assert penalty(db, "ada") == (2, 2, 1)
    assert penalty(db, "ada", "e02_two") == (None, 2, 0), "nothing is due there"
    gradebook.write(db, [record], CATALOG, came("ada", arrival=Arrival(late=False)))
    assert penalty(db, "ada") == (None, 2, 0)


def test_a_time_goes_only_by_what_made_it(db):
    configure(db, ZERO)
    record = student("ada", first=PASSED)
    gradebook.write(db, [record], CATALOG, came("ada"))
    for other in (Arrival(late=False), Arrival(withdrawn="2026-01-02 05:00:00 UTC"), Arrival()):
        gradebook.write(db, [record], CATALOG, came("ada", arrival=other))
        assert penalty(db, "ada") == (2, 2, 3600)
    withdrawn = Arrival(late=True, withdrawn=AN_HOUR_LATE.told)
    gradebook.write(db, [record], CATALOG, came("ada", arrival=withdrawn))
    assert penalty(db, "ada") == (2, 2, 1), "Canvas says so still"
    gradebook.write(db, [record], CATALOG, came("ada"))
    gradebook.write(db, [record], CATALOG, came("ada", arrival=Arrival(withdrawn=AN_HOUR_LATE.told)))
    assert penalty(db, "ada") == (None, 2, 0)


@pytest.mark.parametrize("text", ["soon", "9" * 200, "2026-01-02 99:00:00 UTC", "a b c"])
def test_a_time_that_is_none_is_told_and_the_scores_are_entered(db, text):
    told = gradebook.write(
        db, [student("ada", first=PASSED)], CATALOG, came("ada", arrival=Arrival(stamped=text))
    )
    assert len(told) == 1
    assert "timestamp.txt of e01_one" in told[0]
    assert penalty(db, "ada")[1:] == (2, 0)


def test_a_plugin_that_fails_costs_nobody_else(db):
    plugin(db)
    arrivals = came("eve", "fay")
    told = gradebook.write(
        db, [student("eve", first=PASSED), student("fay", first=PASSED)], CATALOG, arrivals
    )
    assert told == [
        "eve: not written to the gradebook: the late submission plugin failed: "
        "AssertionError('no rule for eve')"
    ]
    assert penalty(db, "fay")[0] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("c = get_config(\n", "SyntaxError"),
        ("c = get_config()\nc.AssignLatePenalties.plugin_class = 'no_such.Plugin'\n", "no_such"),
    ],
)
def test_a_configuration_that_cannot_be_loaded_is_one_line(db, text, words):
    configure(db, text)
    with pytest.raises(KataError, match=words) as told:
        gradebook.write(db, [student("ada", first=PASSED)], CATALOG, came("ada"))
    assert "\n" not in str(told.value)
    assert gradebook.write(db, [student("ada", first=PASSED)], CATALOG) == [], "nobody is late"


def test_scores_of_a_student_are_not_entered_by_half(db):
    plugin(db)
    gradebook.write(db, [student("eve", first=PASSED)], CATALOG)
    told = gradebook.write(
        db, [student("eve", first=ExerciseRecord("failed", 0.0, 2.0))], CATALOG, came("eve")
    )
    assert len(told) == 1
    assert penalty(db, "eve") == (None, 2, 0)


def test_extensions_of_the_roster_count(db):
    configure(db, ZERO)
    days, until = datetime.timedelta(days=0.5), datetime.datetime(2026, 1, 2, 23, 59, 59)
    roster = Roster(
        (Student("ada", extension=days), Student("bob", extension=until), Student("eve"), Student("fay"))
    )
    records = [student(name, first=PARTIAL, third=PASSED) for name in ("ada", "bob", "eve")]
    arrivals = came("ada", "bob", "eve")
    assert gradebook.write(db, records, CATALOG, arrivals, roster=roster) == []
    assert [penalty(db, name)[0] for name in ("ada", "bob", "eve")] == [None, None, 1.5]
    with opened(db) as book:
        assert book.find_submission("e01_one", "bob").extension == until - DUE
        assert book.find_submission("e02_two", "ada").extension is None, "nothing is due there"
        book.grant_extension("e01_one", "eve", hours=2)
    before = Roster((Student("ada", extension=datetime.datetime(2026, 1, 1)), Student("eve")))
    assert gradebook.write(db, records, CATALOG, arrivals, roster=before) == []
    assert [penalty(db, name)[0] for name in ("ada", "bob", "eve")] == [1.5, None, None]


DAY = datetime.timedelta(days=1)


@pytest.fixture
def enter(db, tmp_path):
    """Grade ada and bob, who come late, with a roster that gives ada this extension; what both then have."""
    configure(db, ZERO)
    records = [student(name, first=PARTIAL) for name in ("ada", "bob")]
    arrivals = came("ada", "bob")

    def enter(extension, roster=None):
        roster = roster or Roster((Student("ada", extension=extension), Student("bob")))
        granted = Extensions(tmp_path / "results")
        assert gradebook.write(db, records, CATALOG, arrivals, roster=roster, extensions=granted) == []
        with opened(db) as book:
            return [book.find_submission("e01_one", name).extension for name in ("ada", "bob")]

    return enter


def test_an_extension_that_the_roster_withdraws_goes_away(db, enter):
    assert enter(DAY) == [DAY, None]
    assert enter(2 * DAY) == [2 * DAY, None]
    assert penalty(db, "ada")[0] is None
    assert enter(None) == [None, None]
    assert penalty(db, "ada")[0] == 1.5


def test_who_leaves_the_roster_loses_its_extension_but_not_with_the_whole_roster(enter):
    assert enter(DAY) == [DAY, None]
    assert enter(None, roster=NOBODY) == [DAY, None], "grading without a roster withdraws nothing"
    assert enter(None, roster=Roster((Student("bob"),))) == [None, None]


@pytest.mark.parametrize("damage", ["{", "[]", '{"ada": 3}', '{"ada": {"e01_one": "long"}}'])
def test_where_it_is_not_known_what_was_granted_nothing_is_withdrawn(enter, tmp_path, damage):
    enter(DAY)
    (tmp_path / "results" / ".extensions").write_text(damage)
    assert enter(None) == [DAY, None]


def test_an_extension_by_hand_stays(db, enter):
    enter(DAY)
    with opened(db) as book:
        book.grant_extension("e01_one", "ada", hours=2)
        book.grant_extension("e01_one", "bob", days=1)
    by_hand = [datetime.timedelta(hours=2), DAY]
    assert enter(None) == by_hand
    with opened(db) as book:
        book.grant_extension("e01_one", "ada", days=1)
    assert enter(None) == [DAY, DAY], "the same as the roster's, but granted after that was withdrawn"


def test_what_was_not_written_is_still_to_be_withdrawn(db, enter, monkeypatch):
    enter(DAY)

    def fail(*_):
        raise ValueError("not today")

    with monkeypatch.context() as patch:
        patch.setattr(gradebook, "comment", fail)
        with pytest.raises(AssertionError, match="not today"):
            enter(None)
    assert enter(None) == [None, None]
