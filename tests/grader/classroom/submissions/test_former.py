"""Results under a name that became an alias: one person is one row, and no verdict is lost."""

from pathlib import Path

import pytest

from grader.classroom.submissions import former
from grader.core.errors import KataError
from grader.course.roster import NOBODY, Roster, Student
from grader.records.records import ExerciseRecord, StudentRecord, read_student, student_to_json, write_json

ROSTER = Roster((Student("ada", "Lovelace, Ada", aliases=("countess",)), Student("bob")))
PASSED, PARTIAL = ExerciseRecord("passed", 2.0, 2.0), ExerciseRecord("partial", 1.5, 2.0)
TODO = ExerciseRecord("todo", 0.0, 2.0)
DOUBT = ExerciseRecord(
    "not_graded", 0.0, 2.0, flags=("may have handed in as countess: `kata roster match` asks",)
)


def put(results: Path, student: str, *notes: str, **exercises: ExerciseRecord) -> None:
    write_json(results / f"{student}.json", student_to_json(StudentRecord(student, 7, exercises, notes)))


def held(results: Path) -> dict[str, StudentRecord | None]:
    return {file.stem: read_student(file) for file in results.glob("[!.]*.json")}


@pytest.mark.parametrize("name", ["countess", "Ada Lovelace_1005"])
def test_who_had_no_results_takes_them_over(tmp_path, name):
    put(tmp_path, name, "not in the roster: is it ada? `kata roster match` asks", "odd", first=PASSED)
    put(tmp_path, "zoe", first=TODO)
    write_json(tmp_path / ".seed", 7)
    assert former.settle(tmp_path, NOBODY) == ()
    assert former.settle(tmp_path, ROSTER) == (f"results of {name} are ada's now",)
    assert former.settle(tmp_path, ROSTER) == ()
    assert held(tmp_path).keys() == {"ada", "zoe"}
    assert held(tmp_path)["ada"] == StudentRecord("ada", 7, {"first": PASSED}, ("odd",))


def test_a_verdict_counts_more_than_none_and_two_are_told(tmp_path):
    put(tmp_path, "ada", "mine", first=TODO, second=DOUBT, third=PASSED, fourth=PASSED)
    put(
        tmp_path,
        "countess",
        "theirs",
        first=PASSED,
        second=PARTIAL,
        third=TODO,
        fourth=PARTIAL,
        fifth=PARTIAL,
    )
    (line,) = former.settle(tmp_path, ROSTER)
    assert line.endswith("ada's now; judged under both names, so look: fourth (2, not 1.5)")
    exercises = {"first": PASSED, "second": PARTIAL, "third": PASSED, "fourth": PASSED, "fifth": PARTIAL}
    assert held(tmp_path) == {"ada": StudentRecord("ada", 7, exercises, ("mine",))}


def test_what_cannot_be_written_is_one_line_and_stays(tmp_path):
    put(tmp_path, "countess", first=PASSED)
    (tmp_path / "ada.json").mkdir()
    with pytest.raises(KataError, match=r"cannot write .*ada\.json: .*; mend that and run again"):
        former.settle(tmp_path, ROSTER)
    assert (tmp_path / "countess.json").is_file()
