"""A regrade of one exercise, or of one student, leaves everything else as it was."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from grader.classroom.cli import class_table
from grader.classroom.cli.instructor import to_judge
from grader.classroom.export import load_results
from grader.classroom.grading.grade import GradingSettings, seed_of
from grader.classroom.grading.grade import grade as run
from grader.classroom.submissions.class_folder import Submission
from grader.classroom.submissions.roll_call import KEPT
from grader.course import paths
from grader.course.catalog import Catalog, Section, load
from grader.records.records import (
    ExerciseRecord,
    StudentRecord,
    merged,
    read_student,
    student_to_json,
    write_json,
)

pytestmark = pytest.mark.slow

SLUGS = ("merge_heads", "stable_softmax")
MERGE, SOFTMAX = map(load().exercise, SLUGS)
PASSED = ExerciseRecord("passed", 2.0, 2.0)
ZERO = ExerciseRecord("failed", 0.0, 2.0)


def test_exercises_that_a_run_does_not_judge_stay():
    earlier = StudentRecord("ada", 1, {"a": ZERO, "b": ZERO, "gone": ZERO}, ("old",))
    later = StudentRecord("ada", 1, {"c": PASSED, "a": PASSED}, ("new",))
    found = merged(earlier, later, dict.fromkeys("abcd", 2.0))
    assert found == StudentRecord("ada", 1, {"a": PASSED, "b": ZERO, "c": PASSED}, ("new",))
    assert [*found.exercises] == ["a", "b", "c"]
    assert merged(None, later, {"a": 2.0}) == later


def test_another_seed_is_told():
    known = {"a": 2.0, "b": 2.0}
    found = merged(StudentRecord("ada", 1, {"b": ZERO}), StudentRecord("ada", 2, {"a": PASSED}), known)
    assert found.notes == ("judged in an earlier run, with seed 1: 1 of the exercises",)
    assert merged(found, StudentRecord("ada", 3, {"a": ZERO, "b": ZERO}), known).notes == ()


def test_what_was_judged_for_other_points_is_brought_to_todays(tmp_path):
    partial = ExerciseRecord("partial", 0.5, 2.0)
    earlier = StudentRecord("ada", 1, {"a": PASSED, "merge_heads": partial, "gone": PASSED})
    found = merged(earlier, StudentRecord("ada", 1, {"b": PASSED}), {"a": 3.0, "merge_heads": 1.0, "b": 2.0})
    assert {slug: (e.score, e.points) for slug, e in found.exercises.items()} == {
        "a": (3.0, 3.0),
        "merge_heads": (0.25, 1.0),
        "b": (2.0, 2.0),
    }
    write_json(tmp_path / "ada.json", student_to_json(replace(earlier, exercises={"merge_heads": PASSED})))
    dearer = Catalog((Section("e01_tensors", "", (replace(MERGE, points=3),)),))
    (read,) = load_results(tmp_path, dearer)
    assert (read.score, read.points) == (3.0, 3.0)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 9}', '{"schema": 1, "student": "ada"}'])
def test_a_damaged_record_is_none(tmp_path, text):
    (tmp_path / "ada.json").write_text(text)
    assert read_student(tmp_path / "ada.json") is None


def test_who_hands_in_nothing_is_judged_on_what_was_set(tmp_path):
    every = load()
    weighing = tuple(e for e in every.exercises if not e.is_step)
    nothing, merge = Submission("ada"), Submission("bob", {"merge_heads": b""})
    assert to_judge((nothing,), every, None, tmp_path) == weighing
    write_json(tmp_path / "ada.json", student_to_json(StudentRecord("ada", 0, {"grad_of_squares": ZERO})))
    assert {e.section for e in to_judge((nothing,), every, None, tmp_path)} == {"e02_autograd"}
    assert {e.section for e in to_judge((nothing, merge), every, None, tmp_path)} == {"e01_tensors"}


def test_what_was_judged_once_is_never_turned_into_nothing(tmp_path):
    """A later hand-in into the same results lacks it, or holds the start."""
    start = MERGE.file("exercises").read_bytes()
    failed, done = replace(ZERO, flags=("as it was",)), replace(PASSED, job=1.0, fine=1.0)
    write_json(tmp_path / "ada.json", student_to_json(StudentRecord("ada", 0, {"merge_heads": done})))
    write_json(tmp_path / "bob.json", student_to_json(StudentRecord("bob", 0, {"stable_softmax": failed})))
    work = (Submission("ada", {"merge_heads": start}), Submission("bob"), Submission("cy"))
    ada, bob, cy = run(work, (MERGE, SOFTMAX), GradingSettings(tmp_path, seed=0, jobs=1, confined=False))
    statuses = [[e.status for e in record.exercises.values()] for record in (ada, bob, cy)]
    assert statuses == [["passed", "todo"], ["todo", "failed"], ["todo", "todo"]]
    assert ada.score == MERGE.points
    assert bob.exercises["stable_softmax"] == replace(failed, points=SOFTMAX.points)
    assert [record.notes for record in (ada, bob, cy)] == [(f"{KEPT}: {s}",) for s in SLUGS] + [()]
    assert [*class_table.remarks([ada, bob, cy])] == [f"ada: {ada.notes[0]}", f"bob: {bob.notes[0]}"]
    many = [replace(ada, student=f"s{n}") for n in range(12)]
    names = "; ".join(f"s{n}" for n in range(10))
    assert class_table.remarks(many) == [f"{KEPT}, exercises of: {names}; and 2 more"]
    (tmp_path / "ada.json").unlink()
    assert run(work[:1], (MERGE,), GradingSettings(tmp_path, 0, 1, False))[0].score == 0, "so it is withdrawn"


def grade(*arguments: str) -> None:
    command = [sys.executable, "-m", "grader", "grade", *arguments, "--sandbox", "off"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_one_students_one_exercise(tmp_path):
    api = pytest.importorskip("nbgrader.api", reason="the gradebook is an optional extra")
    work, out, db = tmp_path / "in", tmp_path / "out", tmp_path / "gradebook.db"
    for student in ("ada", "bob"):
        for exercise in (MERGE, SOFTMAX):
            tree = "solutions" if (student, exercise) == ("ada", SOFTMAX) else "exercises"
            file = work / student / exercise.relative
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(exercise.file(tree).read_text("utf-8") + "\n", "utf-8")
    # Ada's other exercises come from an earlier hand-in, in another folder.
    write_json(
        out / "ada.json",
        student_to_json(StudentRecord("ada", 0, {"no_such": ZERO, "grad_of_squares": PASSED})),
    )
    grade(str(work), "--out", str(out), "--gradebook", str(db), "--only", "e01")
    with api.Gradebook(f"sqlite:///{db}") as book:
        by_hand = book.find_grade("stable_softmax", "e01_tensors", "e01_tensors", "ada")
        by_hand.manual_score = 0.5
        book.db.commit()
    before = {file.name: json.loads(file.read_text()) for file in out.glob("*.json")}
    (work / "ada" / MERGE.relative).write_text(MERGE.file("solutions").read_text("utf-8"), "utf-8")
    grade(str(work / "ada"), "--out", str(out), "--gradebook", str(db), "--only", "merge_heads")
    after = {file.name: json.loads(file.read_text()) for file in out.glob("*.json")}
    assert after["bob.json"] == before["bob.json"]
    assert after["ada.json"]["exercises"]["merge_heads"]["status"] == "passed"
    assert after["ada.json"]["score"] == before["ada.json"]["score"] + MERGE.points
    for record in (before, after):
        record["ada.json"]["exercises"].pop("merge_heads")
    assert after["ada.json"]["exercises"] == before["ada.json"]["exercises"]
    with api.Gradebook(f"sqlite:///{db}") as book:
        found = {
            slug: book.find_grade(slug, "e01_tensors", "e01_tensors", "ada")
            for slug in ("merge_heads", "stable_softmax")
        }
        assert found["merge_heads"].score == MERGE.points
        assert (found["stable_softmax"].auto_score, found["stable_softmax"].score) == (SOFTMAX.points, 0.5)
        assert book.find_grade("merge_heads", "e01_tensors", "e01_tensors", "bob").auto_score == 0


def test_a_folder_keeps_the_seed_that_its_first_run_drew(tmp_path):
    first = seed_of(tmp_path / "one", None)
    assert first not in (0, seed_of(tmp_path / "two", None)), "nobody knows it"
    assert [seed_of(tmp_path / "one", given) for given in (None, 5, None)] == [first, 5, 5]
    for damage in ("", '"5"', "["):
        (tmp_path / "one" / ".seed").write_text(damage)
        drawn = seed_of(tmp_path / "one", None)
        assert seed_of(tmp_path / "one", None) == drawn


def test_a_later_run_into_a_folder_judges_nothing_twice(tmp_path):
    file = tmp_path / "in" / "ada" / MERGE.relative
    file.parent.mkdir(parents=True)
    file.write_text(MERGE.file("solutions").read_text("utf-8"), "utf-8")
    out = tmp_path / "out"
    for _ in range(2):
        grade(str(tmp_path / "in"), "--out", str(out), "--only", "merge_heads")
    assert len([*out.glob(".judged/*.json")]) == 1
    assert read_student(out / "ada.json").seed == seed_of(out, None) != 0
