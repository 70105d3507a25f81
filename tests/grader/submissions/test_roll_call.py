"""Students by the roster's names, those who handed in nothing, and those whom it does not know."""

from grader.course.roster import NOBODY, Roster, Student
from grader.records.records import ExerciseRecord, StudentRecord, student_to_json, write_json
from grader.submissions import roll_call
from grader.submissions.class_folder import Submission, collect
from tests.grader.submissions.test_class_folder import CATALOG, put

ROSTER = Roster((Student("ada", "Ada Lovelace", "ada@x.org", ("countess",)), Student("eve"), Student("kim")))


def test_work_under_several_names_is_one_students(tmp_path):
    put(tmp_path / "countess/e01_one/ex01_first.py", b"a = 1\n")
    put(tmp_path / "Ada Lovelace_99_assignsubmission_file_/ex02_second.py", b"b = 1\n")
    put(tmp_path / "mallory/e01_one/ex01_first.py", b"c = 1\n")
    ada, mallory = collect(tmp_path, CATALOG, roster=ROSTER).submissions
    assert ada == Submission("ada", {"first": b"a = 1\n", "second": b"b = 1\n"})
    assert mallory.student == "mallory"


def test_who_handed_in_nothing_is_there_and_strangers_are_told(tmp_path):
    put(tmp_path / "in/ada@x.org/e01_one/ex01_first.py")
    put(tmp_path / "in/eva/e01_one/ex01_first.py")
    put(tmp_path / "in/zz9/e01_one/ex01_first.py")
    read = collect(tmp_path / "in", CATALOG, roster=ROSTER)
    work = roll_call.called(read, ROSTER, tmp_path)
    assert [s.student for s in work.submissions] == ["ada", "eva", "eve", "kim", "zz9"]
    assert work.submissions[2] == Submission("eve", notes=("handed in nothing",))
    assert work.notes == (
        "not in the roster, kept under this name: eva (is eve meant? add it as an alias); zz9",
        "nothing here from: eve; kim",
    )
    assert roll_call.called(read, NOBODY, tmp_path) is read


def test_what_somebody_was_judged_on_before_stays(tmp_path):
    put(tmp_path / "in/ada/e02_two/ex03_third.py")
    before = StudentRecord("eve", 1, {"first": ExerciseRecord("passed", 2.0, 2.0)}, ("handed in late",))
    write_json(tmp_path / "eve.json", student_to_json(before))
    work = roll_call.called(collect(tmp_path / "in", CATALOG, roster=ROSTER), ROSTER, tmp_path)
    eve = work.submissions[1]
    assert eve == Submission("eve", notes=("handed in late",), kept=frozenset({"first"}))


def test_where_one_students_work_is_named_nobody_else_is_called(tmp_path):
    put(tmp_path / "countess/e01_one/ex01_first.py")
    work = roll_call.called(collect(tmp_path / "countess", CATALOG, roster=ROSTER), ROSTER, tmp_path)
    assert [s.student for s in work.submissions] == ["ada"]
