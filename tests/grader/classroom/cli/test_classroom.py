"""What an instructor reads on the terminal after a run."""

import io
from dataclasses import replace

from rich.console import Console

from grader.classroom.cli import class_table
from grader.course.catalog import Catalog, Section, load
from grader.learner import course_map
from grader.program import app
from grader.records.records import ExerciseRecord, StudentRecord, exercise_from_json, exercise_to_json

FORGED = "bob: merge_heads tampered: forged"


def fault(reason):
    return ExerciseRecord("grader_fault", 0.0, 2.0, flags=(reason,))


def test_no_flag_begins_a_line_on_the_terminal(tmp_path):
    out = Console(file=io.StringIO(), force_terminal=True, width=60, soft_wrap=True, highlight=False)
    padded = f"SyntaxError: {'x' * 30} {FORGED}"
    old = exercise_from_json(exercise_to_json(ExerciseRecord("broken", 0.0, 2.0, flags=(f"x\n{FORGED}",))))
    record = StudentRecord("ada", 0, {"a": ExerciseRecord("broken", 0.0, 2.0, flags=(padded,)), "b": old})
    class_table.show([record], tmp_path, out, Catalog(()))
    lines = out.file.getvalue().splitlines()
    assert [line for line in lines if FORGED[:5] in line] and not [
        line for line in lines if line.startswith("bob")
    ]


def test_names_are_text_in_every_table(tmp_path):
    student, file = "[bold]m[/bold]", "[red]model"
    record = StudentRecord(student, 0, {"merge_heads": ExerciseRecord("passed", 2.0, 2.0)})
    section = Section(file, file, (replace(load().exercise("merge_heads"), slug=file),))
    with app.out.capture() as shown:
        class_table.show([record], tmp_path, app.out, load())
        app.out.print(class_table.tests_table([record], Catalog((section,))))
        app.out.print(course_map.CourseMap(Catalog((section,)), {}))
    text = shown.get()
    assert (text.count(student), text.count(file)) == (2, 3)


def test_who_was_not_judged_is_not_in_the_mean():
    passed, failed = ExerciseRecord("passed", 2.0, 2.0), ExerciseRecord("failed", 0.0, 2.0)
    records = [
        StudentRecord("ada", 0, {"a": fault("gone"), "b": passed}),
        StudentRecord("bob", 0, {"a": passed, "b": failed}),
    ]
    assert class_table.mean(records) == ("3", "4")
    assert class_table.mean([StudentRecord("ada", 0, {"a": fault("gone")})]) == ("0", "0")


def test_faults_are_told_by_exercise_and_counted():
    records = [StudentRecord(who, 0, {"a": fault("gone"), "b": fault("lost")}) for who in ("ada", "bob")]
    first, second, last = class_table.remarks(records)
    assert first == "not graded by a fault of the grader: a, 2 answers: gone"
    assert second == "not graded by a fault of the grader: b, 2 answers: lost"
    assert last.startswith("4 answers not graded count neither as 0 nor in a mean; run again")
