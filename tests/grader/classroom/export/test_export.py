import csv
import io
import math

import pytest

from grader.classroom.export import load_results, to_csv
from grader.core.errors import KataError
from grader.course.catalog import Catalog, Section
from grader.course.roster import Roster, Student
from grader.records.records import ExerciseRecord, StudentRecord, student_to_json, write_json
from tests.grader.support.little_course import CATALOG as LITTLE
from tests.grader.support.little_course import exercise

CATALOG = Catalog((*LITTLE.sections, Section("e03_three", "Three", (exercise("unused", "e03_three", 4),))))
ZERO = ExerciseRecord("failed", 0.0, 2.0)
HALF = ExerciseRecord("partial", 1.5, 2.0)
NOT_GRADED = ExerciseRecord("not_graded", 0.0, 2.0)
FLAGGED = ExerciseRecord("passed", 2.0, 2.0, flags=("=odd", "very, odd"))


def table(*records: StudentRecord) -> list[dict[str, str]]:
    out = io.StringIO(newline="")
    to_csv(records, CATALOG, out)
    return list(csv.DictReader(io.StringIO(out.getvalue(), newline="")))


def test_a_row_holds_scores_section_totals_and_the_total():
    (row,) = table(StudentRecord("ada", 7, {"first": HALF, "second": ZERO, "third": FLAGGED}))
    assert row == {
        "student": "ada",
        "first": "1.5",
        "second": "0",
        "third": "2",
        "e01_one": "1.5",
        "e02_two": "2",
        "total": "3.5",
        "points": "6",
        "flags": "third: =odd; third: very, odd",
    }
    assert [*row][:4] == ["student", "first", "second", "third"]


def test_not_graded_is_never_zero():
    ada, bob = table(
        StudentRecord("ada", 7, {"first": ZERO, "third": NOT_GRADED}),
        StudentRecord("bob", 7, {"third": ExerciseRecord("grader_fault", 0.0, 2.0)}),
    )
    assert (ada["first"], ada["third"], ada["e02_two"], ada["total"]) == (
        "0",
        "not graded",
        "not graded",
        "0",
    )
    assert ada["points"] == "2"
    assert (bob["first"], bob["third"], bob["total"], bob["points"]) == (
        "not graded",
        "not graded",
        "not graded",
        "0",
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"])
def test_no_spreadsheet_runs_a_name(start):
    name = f'{start}HYPERLINK("x"),1'
    (row,) = table(StudentRecord(name, 7, {"first": HALF}))
    assert row["student"] == "'" + name
    assert row["first"] == "1.5"


@pytest.mark.parametrize("name", ["Lovelace, Ada", 'says "hi"', "two\nlines", "Åsa Öberg", " space "])
def test_a_name_comes_back_as_it_was(name):
    (row,) = table(StudentRecord(name, 7, {"first": HALF}))
    assert row["student"] == name


@pytest.mark.parametrize(
    ("score", "shown"),
    [(1.5, "1.5"), (2, "2"), (10.0, "10"), (0.1 + 0.2, "0.3"), (1234567.25, "1234567.25"), (1 / 3, "0.3333")],
)
def test_numbers_have_no_noise(score, shown):
    (row,) = table(StudentRecord("ada", 7, {"first": ExerciseRecord("partial", score, 2.0)}))
    assert row["first"] == row["total"] == shown


def test_what_the_roster_tells_makes_columns():
    records = [StudentRecord("ada", 7, {"first": HALF}), StudentRecord("boole", 7, {"first": ZERO})]
    out = io.StringIO(newline="")
    to_csv(records, CATALOG, out, Roster((Student("ada", section="=A"), Student("cyd", section="B"))))
    assert [row[:3] for row in csv.reader(out.getvalue().splitlines())] == [
        ["student", "section", "first"],
        ["ada", "'=A", "1.5"],
        ["boole", "", "0"],
    ]
    plain, without = io.StringIO(newline=""), io.StringIO(newline="")
    to_csv(records, CATALOG, plain)
    to_csv(records, CATALOG, without, Roster((Student("ada"),)))
    assert plain.getvalue() == without.getvalue()
    named = io.StringIO(newline="")
    to_csv(records, CATALOG, named, Roster((Student("ada", "Ada", "ada@example.org"),)))
    assert [row[:4] for row in csv.reader(named.getvalue().splitlines())][:2] == [
        ["student", "name", "email", "first"],
        ["ada", "Ada", "ada@example.org", "1.5"],
    ]


def save(folder, name: str, record: StudentRecord) -> None:
    write_json(folder / f"{name}.json", student_to_json(record))


def test_results_are_read_in_order_and_bad_ones_are_told(tmp_path):
    for name in ("zoe", "ada"):
        save(tmp_path, name, StudentRecord(name, 7, {"first": HALF}))
    save(tmp_path, "nan", StudentRecord("nan", 7, {"first": ExerciseRecord("partial", math.nan, 2.0)}))
    (tmp_path / "cut.json").write_text('{"schema": 1, "stud')
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "new.json").write_text('{"schema": 99, "student": "new", "seed": 1, "exercises": {}}')
    (tmp_path / "odd.json").write_text(
        '{"schema": 1, "student": "odd", "seed": 1, "exercises": {"first": 3}}'
    )
    (tmp_path / "text.json").write_text(
        '{"schema": 1, "student": "text", "seed": 1, "exercises": '
        '{"first": {"status": "passed", "score": "2", "points": 2, "checks": [], "flags": []}}}'
    )
    (tmp_path / ".half.json").write_text("")
    (tmp_path / "cache").mkdir()
    told: list[str] = []
    records = load_results(tmp_path, CATALOG, told.append)
    assert [r.student for r in records] == ["ada", "zoe"]
    assert records[0].exercises == {"first": HALF}
    assert [line.split(".json")[0].split("/")[-1] for line in told] == [
        "cut",
        "list",
        "nan",
        "new",
        "odd",
        "text",
    ]
    assert all("\n" not in line for line in told)


def test_bad_records_are_told_on_stderr(tmp_path, capsys):
    save(tmp_path, "ada", StudentRecord("ada", 7))
    (tmp_path / "cut.json").write_text("{")
    load_results(tmp_path, CATALOG)
    assert "cut.json" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "words"), [("", "holds no results"), ("missing", "is not a folder")])
def test_no_results_are_one_line(tmp_path, name, words):
    with pytest.raises(KataError, match=words) as told:
        load_results(tmp_path / name, CATALOG)
    assert "\n" not in str(told.value)
