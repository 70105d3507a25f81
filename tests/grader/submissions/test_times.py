"""Times of submissions, from tables as platforms export them."""

import time

import pytest

from grader.core.errors import KataError
from grader.course.roster import NOBODY, Roster, Student
from grader.submissions import times
from grader.submissions.class_folder import Classwork, Submission
from tests.grader.submissions.test_class_folder import CATALOG

ADA = Submission("ada", {"first": b"", "third": b""}, times={"e01_one": "2026-01-01 00:00:00 UTC"})
BOB = Submission("bob", problems={"third": "a link"})
CLASS = Classwork((ADA, BOB), ("told",))
NOON = "2026-11-20 12:00:00 UTC"


@pytest.fixture(autouse=True)
def _in_vienna(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Vienna")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def entered(tmp_path, text, work=CLASS, roster=NOBODY):
    file = tmp_path / "times.csv"
    file.write_text(text)
    found = times.entered(work, file, CATALOG, roster)
    return {one.student: dict(one.times) for one in found.submissions}, found.notes


def test_without_an_assignment_a_time_is_that_of_all_that_is_there(tmp_path):
    found, notes = entered(tmp_path, "student,time\nada,2026-11-20T12:00:00Z\nbob,\n")
    assert found == {"ada": {"e01_one": NOON, "e02_two": NOON}, "bob": {}}
    assert notes == ("told",)


def test_with_one_it_is_that_ones_and_the_latest_counts(tmp_path):
    rows = (
        "student;assignment;time\nbob;e02_two;2026-11-20 13:00:00+01:00\nbob;e02_two;2026-11-20T11:59:00Z\n"
    )
    found, _ = entered(tmp_path, rows + "ada;e02_two;2026-11-20 12:00:00 UTC\n")
    assert found == {"ada": {**ADA.times, "e02_two": NOON}, "bob": {"e02_two": NOON}}


def test_moodles_worksheet_is_read(tmp_path):
    table = (
        "Identifier,Full name,Email address,Status,Last modified (submission)\n"
        'Participant 12,Ada Lovelace,ada@x.org,Submitted,"Friday, 20 November 2026, 1:00 PM"\n'
        'Participant 13,George Boole,bob@x.org,Submitted,"Friday, 20 November 2026, 1:00 PM"\n'
        "Participant 14,Eve,eve@x.org,No submission,-\n"
    )
    here = Classwork((Submission("Ada Lovelace_12", {"third": b""}), BOB))
    found, notes = entered(tmp_path, table, here, Roster((Student("bob", email="bob@x.org"),)))
    assert found == {"Ada Lovelace_12": {"e02_two": NOON}, "bob": {"e02_two": NOON}}
    assert [note.split(": ")[1] for note in notes] == ["read in this machine's"]


def test_github_classrooms_grades_are_read_and_strangers_told(tmp_path):
    table = (
        "assignment_name,assignment_url,github_username,roster_identifier,submission_timestamp\n"
        f"week1,https://x,countess,,{NOON}\nweek1,https://x,mallory,,{NOON}\n"
    )
    found, notes = entered(tmp_path, table, roster=Roster((Student("ada", aliases=("countess",)),)))
    assert found["ada"] == {"e01_one": NOON, "e02_two": NOON}
    assert notes[1].endswith("times.csv for nobody who is here: mallory")


def test_canvas_and_gradescope_are_read(tmp_path):
    canvas = "user_id,assignment_id,submitted_at,seconds_late\n12,7,2026-11-20T12:00:00Z,0\n13,7,,0\n"
    here = Classwork((Submission("lovelaceada_12", {"third": b""}), Submission("boolegeorge_13")))
    found, notes = entered(tmp_path, canvas, here)
    assert found == {"lovelaceada_12": {"e02_two": NOON}, "boolegeorge_13": {}}
    assert notes == ()
    known = Classwork((Submission("ada", {"third": b""}),))
    assert entered(tmp_path, canvas, known, Roster((Student("ada", aliases=("lovelaceada_12",)),)))[0] == {
        "ada": {"e02_two": NOON}
    }
    gradescope = (
        "First Name,Last Name,SID,Email,Status,Submission ID,Submission Time,Lateness (H:M:S)\n"
        "Ada,Lovelace,99,ada@x.org,Graded,12,2026-11-20 04:00:00 -0800,00:00:00\n"
    )
    assert entered(tmp_path, gradescope, known, Roster((Student("ada", email="ada@x.org"),)))[0] == {
        "ada": {"e02_two": NOON}
    }


def test_an_id_that_two_names_end_with_is_nobodys(tmp_path):
    here = Classwork((Submission("ada_1", {"third": b""}), Submission("bob_1", {"third": b""})))
    found, notes = entered(tmp_path, "user_id,submitted_at\n1,2026-11-20T12:00:00Z\n", here)
    assert found == {"ada_1": {}, "bob_1": {}}
    assert notes[0].endswith("times.csv for nobody who is here: 1")


@pytest.mark.parametrize(
    "text, told",
    [
        ("student,when\nada,now\n", "names no column 'time'"),
        ("student,time\nada,yesterday\n", "line 2: 'yesterday' is no time that is known"),
        ("student,time\nada,11/12/2026 9:00\n", "line 2: no row tells whether '11/12/2026' has the day or"),
        (f"student,assignment,time\nada,week1,{NOON}\n", "line 2: there is no assignment 'week1'"),
    ],
)
def test_what_is_no_time_is_one_line(tmp_path, text, told):
    with pytest.raises(KataError, match=told):
        entered(tmp_path, text)
