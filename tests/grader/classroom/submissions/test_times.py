"""Times of submissions, from tables as platforms export them."""

import time

import pytest

from grader.classroom.submissions import times
from grader.classroom.submissions.class_folder import Submission
from grader.core.errors import KataError
from grader.course.roster import NOBODY, Roster, Student
from tests.grader.support.little_course import CATALOG

ADA = Submission("ada", {"first": b"", "third": b""})
BOB = Submission("bob", problems={"third": "a link"})
CLASS = (ADA, BOB)
NOON = "2026-11-20 12:00:00 UTC"


@pytest.fixture(autouse=True)
def _in_vienna(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Vienna")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def read(tmp_path, text, work=CLASS, roster=NOBODY, judged=CATALOG.exercises):
    file = tmp_path / "times.csv"
    file.write_text(text)
    told = times.read(file, work, judged, CATALOG, roster)
    found = {}
    for (student, assignment), time_ in told.times.items():
        found.setdefault(student, {})[assignment] = time_
    return found, told.notes


def test_without_an_assignment_a_time_is_that_of_all_that_is_there(tmp_path):
    found, notes = read(tmp_path, "student,time\nada,2026-11-20T12:00:00Z\nbob,\n")
    assert (found, notes) == ({"ada": {"e01_one": NOON, "e02_two": NOON}}, ())
    found, _ = read(tmp_path, "student,time\nada,2026-11-20T12:00:00Z\n", judged=CATALOG.exercises[:1])
    assert found == {"ada": {"e01_one": NOON}}, "what is not judged now came at another time"


def test_with_one_it_is_that_ones_and_the_latest_counts(tmp_path):
    rows = (
        "student;assignment;time\nbob;e02_two;2026-11-20 13:00:00+01:00\nbob;e02_two;2026-11-20T11:59:00Z\n"
    )
    found, _ = read(tmp_path, rows + "ada;e02_two;2026-11-20 12:00:00 UTC\n")
    assert found == {"ada": {"e02_two": NOON}, "bob": {"e02_two": NOON}}


def test_an_empty_time_withdraws_where_its_row_names_the_assignment(tmp_path):
    rows = f"student,assignment,time\nada,e01_one,\nbob,e02_two,\nbob,e02_two,{NOON}\nada,,\n"
    assert read(tmp_path, rows) == ({"ada": {"e01_one": ""}, "bob": {"e02_two": NOON}}, ())


def test_moodles_worksheet_is_read(tmp_path):
    table = (
        "Identifier,Full name,Email address,Status,Last modified (submission)\n"
        'Participant 12,Ada Lovelace,ada@x.org,Submitted,"Friday, 20 November 2026, 1:00 PM"\n'
        'Participant 13,George Boole,bob@x.org,Submitted,"Friday, 20 November 2026, 1:00 PM"\n'
        "Participant 14,Eve,eve@x.org,No submission,-\n"
    )
    here = (Submission("Ada Lovelace_12", {"third": b""}), BOB)
    found, notes = read(tmp_path, table, here, Roster((Student("bob", email="bob@x.org"),)))
    assert found == {"Ada Lovelace_12": {"e02_two": NOON}, "bob": {"e02_two": NOON}}
    assert [note.split(": ")[1] for note in notes] == ["read in this machine's"]


def test_github_classrooms_grades_are_read_and_strangers_told(tmp_path):
    table = (
        "assignment_name,assignment_url,github_username,roster_identifier,submission_timestamp\n"
        f"week1,https://x,countess,,{NOON}\nweek1,https://x,mallory,,{NOON}\n"
    )
    found, notes = read(tmp_path, table, roster=Roster((Student("ada", aliases=("countess",)),)))
    assert found["ada"] == {"e01_one": NOON, "e02_two": NOON}
    assert notes[0].endswith("times.csv for nobody who is here: mallory")


def test_canvas_and_gradescope_are_read(tmp_path):
    canvas = "user_id,assignment_id,submitted_at,seconds_late\n12,7,2026-11-20T12:00:00Z,0\n13,7,,0\n"
    here = (Submission("lovelaceada_12", {"third": b""}), Submission("boolegeorge_13"))
    found, notes = read(tmp_path, canvas, here)
    assert found == {"lovelaceada_12": {"e02_two": NOON}}
    assert notes == ()
    known = (Submission("ada", {"third": b""}),)
    assert read(tmp_path, canvas, known, Roster((Student("ada", aliases=("lovelaceada_12",)),)))[0] == {
        "ada": {"e02_two": NOON}
    }
    gradescope = (
        "First Name,Last Name,SID,Email,Status,Submission ID,Submission Time,Lateness (H:M:S)\n"
        "Ada,Lovelace,99,ada@x.org,Graded,12,2026-11-20 04:00:00 -0800,00:00:00\n"
    )
    assert read(tmp_path, gradescope, known, Roster((Student("ada", email="ada@x.org"),)))[0] == {
        "ada": {"e02_two": NOON}
    }


def test_an_id_that_two_names_end_with_is_nobodys(tmp_path):
    here = (Submission("ada_1", {"third": b""}), Submission("bob_1", {"third": b""}))
    found, notes = read(tmp_path, "user_id,submitted_at\n1,2026-11-20T12:00:00Z\n", here)
    assert found == {}
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
        read(tmp_path, text)
