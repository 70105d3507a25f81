"""Students by the roster's names, those who handed in nothing, and those whom it does not know."""

from grader.classroom.submissions import roll_call
from grader.classroom.submissions.class_folder import Submission, collect
from grader.course.roster import NOBODY, Roster, Student
from grader.records.records import ExerciseRecord, StudentRecord, student_to_json, write_json
from tests.grader.classroom.submissions.test_class_folder import put
from tests.grader.support.little_course import CATALOG

ROSTER = Roster(
    (Student("ada", "Ada Lovelace", "ada@x.org", ("countess",)), Student("evelyn"), Student("kim"))
)


def test_work_under_several_names_is_one_students(tmp_path):
    put(tmp_path / "countess/e01_one/ex01_first.py", b"a = 1\n")
    put(tmp_path / "Ada Lovelace_99_assignsubmission_file_/ex02_second.py", b"b = 1\n")
    put(tmp_path / "mallory/e01_one/ex01_first.py", b"c = 1\n")
    ada, mallory = collect(tmp_path, CATALOG, roster=ROSTER).submissions
    names = "handed in under 2 names: Ada Lovelace_99 and countess"
    assert ada == Submission("ada", {"first": b"a = 1\n", "second": b"b = 1\n"}, notes=(names,))
    assert mallory.student == "mallory"


def test_a_file_that_is_called_after_somebody_is_theirs(tmp_path):
    for name in ("ada.pdf", "Evelyn.py", "minutes.txt", "kim/e01_one/ex01_first.py"):
        put(tmp_path / name)
    work = collect(tmp_path, CATALOG, roster=ROSTER)
    ada, evelyn, kim = work.submissions
    assert ada.problems["third"] == "no answer can be read in ada.pdf" and kim.answers
    assert evelyn.problems["third"] == "no answer can be read in Evelyn.py"
    assert work.notes == ("no student's folder, ignored: minutes.txt",)


def test_who_handed_in_nothing_is_there_and_strangers_are_told(tmp_path):
    put(tmp_path / "in/ada@x.org/e01_one/ex01_first.py")
    put(tmp_path / "in/evelin/e01_one/ex01_first.py")
    put(tmp_path / "in/zz9/e01_one/ex01_first.py")
    read = collect(tmp_path / "in", CATALOG, roster=ROSTER)
    work = roll_call.called(read, ROSTER, tmp_path, ["first"])
    assert [s.student for s in work.submissions] == ["ada", "evelin", "evelyn", "kim", "zz9"]
    assert work.submissions[3] == Submission("kim", notes=("handed in nothing",))
    assert work.notes == (
        "not in the roster, kept under this name: evelin (is it evelyn? `kata roster match` asks); zz9",
        "nothing here from: evelyn; kim",
    )
    assert roll_call.called(read, NOBODY, tmp_path, ["first"]) is read


def test_who_may_have_handed_in_under_another_name_is_no_zero(tmp_path):
    put(tmp_path / "in/evelin/e01_one/ex01_first.py")
    doubt = "may have handed in as evelin: `kata roster match` asks"
    records = {"first": ExerciseRecord("passed", 2.0, 2.0), "second": ExerciseRecord("todo", 0.0, 2.0)}
    records["third"] = ExerciseRecord("not_graded", 0.0, 2.0, flags=("may have handed in as eve: then",))
    write_json(tmp_path / "evelyn.json", student_to_json(StudentRecord("evelyn", 1, records)))

    def evelyn(roster: Roster) -> Submission:
        work = roll_call.called(collect(tmp_path / "in", CATALOG, roster=roster), roster, tmp_path, records)
        return next(s for s in work.submissions if s.student == "evelyn")

    found = evelyn(ROSTER)
    assert found.problems == {"second": doubt, "third": doubt} and found.kept == {"first"}
    assert found.notes == (doubt,)
    assert evelyn(Roster((*ROSTER.students, Student("evelin")))) == Submission(
        "evelyn", kept=frozenset({"first"})
    )


def test_two_of_one_name_are_asked_about_and_no_third_is_named(tmp_path):
    put(tmp_path / "Ada Lovelace_7_assignsubmission_file_/ex01_first.py")
    names = {"ada1": "Ada Lovelace", "ada2": "Lovelace, Ada", "ada3": "Ada Loveless"}
    roster = Roster(tuple(Student(id, name) for id, name in names.items()))
    read = collect(tmp_path, CATALOG, roster=roster)
    work = roll_call.called(read, roster, tmp_path, ["first"])
    assert [(s.student, [*s.problems]) for s in work.submissions[1:]] == [
        ("ada1", ["first"]),
        ("ada2", ["first"]),
        ("ada3", []),
    ]
    told = "is it Ada Lovelace (ada1) or Lovelace, Ada (ada2)? `kata roster match` asks"
    assert told in work.submissions[0].notes[-1] and told in work.notes[0]


def test_what_somebody_was_judged_on_before_stays(tmp_path):
    put(tmp_path / "in/ada/e02_two/ex03_third.py")
    before = StudentRecord("kim", 1, {"first": ExerciseRecord("passed", 2.0, 2.0)}, ("handed in late",))
    write_json(tmp_path / "kim.json", student_to_json(before))
    work = roll_call.called(collect(tmp_path / "in", CATALOG, roster=ROSTER), ROSTER, tmp_path, ["first"])
    kim = work.submissions[2]
    assert kim == Submission("kim", notes=("handed in late",), kept=frozenset({"first"}))


def test_where_one_students_work_is_named_nobody_else_is_called(tmp_path):
    put(tmp_path / "countess/e01_one/ex01_first.py")
    work = roll_call.called(collect(tmp_path / "countess", CATALOG, roster=ROSTER), ROSTER, tmp_path, [])
    assert [s.student for s in work.submissions] == ["ada"]
