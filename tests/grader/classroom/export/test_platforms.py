"""What other programs import, checked against what they document."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.export import FOLDERS, FORMATS, export, to_json
from grader.classroom.export.canvas import to_canvas
from grader.classroom.export.canvas_roster import CanvasExport, load_roster
from grader.classroom.export.gradescope import result, to_gradescope
from grader.core.errors import KataError
from grader.course.catalog import Catalog
from grader.course.roster import Roster as Enrolled
from grader.course.roster import Student
from grader.records.records import CheckRecord, StudentRecord
from tests.grader.classroom.export.test_export import CATALOG, FLAGGED, HALF, NOT_GRADED, ZERO, save

ADA = StudentRecord("ada", 7, {"first": HALF, "second": ZERO, "third": NOT_GRADED})
BOOLE = StudentRecord("boolegeorge_13", 7, {"first": FLAGGED, "third": HALF})


def canvas(*records: StudentRecord, roster: CanvasExport | None = None) -> list[list[str]]:
    out = io.StringIO(newline="")
    to_canvas(records, CATALOG, out, roster)
    return list(csv.reader(io.StringIO(out.getvalue(), newline="")))


def imported(rows: list[list[str]]) -> dict[str, dict[str, str]]:
    """What Canvas's GradebookImporter takes from a file: grades by ID, login or name, and assignment."""
    header, *rest = rows
    assert len(header) > 3 and "Student" in header[0] and "ID" in header[1]
    columns = 3
    if re.search(r"SIS\s+Login\s+ID", header[2]):
        columns = 4
    elif re.search(r"SIS\s+User\s+ID", header[2]) and re.search(r"SIS\s+Login\s+ID", header[3]):
        columns = 5
    assert "Section" in header[columns - 1]
    ignored = re.compile("Current Score|Current Points|Final Score|Final Points|Final Grade")
    assignments = [n for n in range(columns, len(header)) if not ignored.search(header[n])]
    found: dict[str, dict[str, str]] = {}
    for row in rest:
        assert len(row) == len(header)
        name = "points" if "Points Possible" in row[0] else row[1] or row[3] or row[0]
        found[name] = {header[n]: row[n] for n in assignments}
    return found


def test_canvas_imports_every_exercise_and_what_was_not_judged_is_empty():
    assert imported(canvas(ADA, BOOLE)) == {
        "points": {"first": "2", "second": "2", "third": "2"},
        "ada": {"first": "1.5", "second": "0", "third": ""},
        "13": {"first": "2", "second": "", "third": "1.5"},
    }


def test_canvas_rows_are_those_of_its_own_export():
    header, possible, ada, boole = canvas(ADA, BOOLE)
    student = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert header == [*student, "first", "second", "third", "Final Points"]
    assert possible == ["    Points Possible", "", "", "", "", "2", "2", "2", "(read only)"]
    assert ada == ["ada", "", "", "ada", "", "1.5", "0", "", "1.5"]
    assert boole[:5] == ["boolegeorge", "13", "", "", ""]


@pytest.mark.parametrize("name", ["=cmd|x", "Lovelace, Ada", 'says "hi"', "+1"])
def test_no_spreadsheet_runs_a_name_on_the_way_to_canvas(name):
    row = canvas(StudentRecord(name, 7, {"first": HALF}))[2]
    assert row[0] == (f"'{name}" if name[0] in "=+" else name)
    assert row[0] == row[3]


CANVAS_EXPORT = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,{columns},Current Score
,,,,,Manual Posting,,(read only)
    Points Possible,,,,,2,4,(read only)
"Lovelace, Ada",12,S-12,ada@example.org,Monday,,,
"Boole, George",13,S-13,george,Tuesday,1,,50
"""


def roster(folder: Path, columns: str) -> CanvasExport:
    (folder / "canvas.csv").write_text(CANVAS_EXPORT.format(columns=columns), "utf-8")
    found = load_roster(folder)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name", ["lovelaceada_12", "Ada Lovelace", "Lovelace, Ada", "ada@example.org", "S-12"]
)
def test_an_export_of_canvas_gives_the_ids(tmp_path, name):
    found = roster(tmp_path, "first (501),Two (502)")
    record = StudentRecord(name, 7, {"first": HALF, "second": ZERO, "third": FLAGGED})
    assert canvas(record, roster=found) == [
        [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            "first (501)",
            "Two (502)",
            "Final Points",
        ],
        ["    Points Possible", "", "", "", "", "2", "2", "(read only)"],
        ["Lovelace, Ada", "12", "S-12", "ada@example.org", "Monday", "1.5", "2", "3.5"],
    ]


def test_an_export_of_canvas_may_have_semicolons(tmp_path):
    text = (
        CANVAS_EXPORT.format(columns="first (501),Two (502)").replace("e, A", "e| A").replace("e, G", "e| G")
    )
    (tmp_path / "canvas.csv").write_text(text.replace(",", ";").replace("|", ","), "utf-8")
    found = load_roster(tmp_path)
    assert found is not None
    assert found.assignments == {"first": ["first (501)"], "Two": ["Two (502)"]}
    assert [row["Student"] for row in found.students][-2:] == ["Lovelace, Ada", "Boole, George"]


def test_sections_may_be_canvas_assignments(tmp_path):
    rows = canvas(ADA, BOOLE, roster=roster(tmp_path, "Essay (500),e01_one (501)"))
    assert imported(rows) == {
        "points": {"e01_one (501)": "4"},
        "ada": {"e01_one (501)": "1.5"},
        "13": {"e01_one (501)": "2"},
    }


@pytest.mark.parametrize("columns", ["first (501),first (502)", "e02_two (501),Two (502)"])
def test_two_assignments_of_canvas_that_may_be_one_of_ours_are_asked_about(tmp_path, columns):
    with pytest.raises(KataError, match=rf"has more than one assignment .*{re.escape(columns[-9:])}; rename"):
        canvas(ADA, BOOLE, roster=roster(tmp_path, columns))


def test_an_assignment_of_canvas_that_may_be_two_of_ours_is_asked_about(tmp_path):
    section = CATALOG.sections[0]
    alike = replace(section, exercises=tuple(replace(e, title="Two") for e in section.exercises))
    with pytest.raises(KataError, match=r"Two \(502\) may be second, and another of ours"):
        to_canvas([ADA], Catalog((alike,)), io.StringIO(), roster(tmp_path, "Two (502)"))
    for order in (1, -1):
        first, second = alike.exercises[::order]
        weighs_nothing = replace(alike, exercises=(replace(first, points=0), second))
        out = io.StringIO()
        to_canvas([ADA], Catalog((weighs_nothing,)), out, roster(tmp_path, "Two (502)"))
        assert out.getvalue().splitlines()[1].endswith(f",{second.points:g},(read only)")
        assert f",{ADA.exercises[second.slug].score:g}," in out.getvalue()


def test_a_roster_without_our_assignments_still_gives_the_ids(tmp_path):
    rows = canvas(BOOLE, roster=roster(tmp_path, "Essay (500),Quiz (501)"))
    assert [*imported(rows)["13"]] == ["first", "third"]


def test_a_student_whom_canvas_does_not_know_is_told(tmp_path, capsys):
    roster(tmp_path, "first (501)")
    for record in (ADA, BOOLE):
        save(tmp_path, record.student, record)
    export(tmp_path, "canvas", tmp_path / "out.csv", CATALOG)
    assert capsys.readouterr().err == "canvas.csv has no row for ada; Canvas will ask who that is\n"
    assert "george,Tuesday,2,2" in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no export of Canvas's gradebook"),
        ("name,score\nada,1\n", "is no export of Canvas's gradebook"),
        ("Student,ID\n", "is no export of Canvas's gradebook"),
        ("\xe9", "is no UTF-8"),
        ("\xff\xfex", "is no UTF-8"),
        ('Student,ID,"', "cannot be read as CSV"),
    ],
)
def test_a_file_that_is_no_export_of_canvas_is_one_line(tmp_path, text, why):
    (tmp_path / "canvas.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(KataError, match=why) as told:
        load_roster(tmp_path)
    assert "\n" not in str(told.value)


VISIBLE = {"hidden", "after_due_date", "after_published", "visible"}
TEXT = {"text", "html", "simple_format", "md", "ansi"}
SUBMISSION = {
    **{"score": (int, float), "execution_time": (int, float), "output": str, "output_format": TEXT},
    **{"test_output_format": TEXT, "test_name_format": TEXT, "visibility": VISIBLE},
    **{"stdout_visibility": VISIBLE, "extra_data": dict, "tests": list, "leaderboard": list},
}
CASE = {
    **{"score": (int, float), "max_score": (int, float), "status": {"passed", "failed"}, "name": str},
    **{"name_format": TEXT, "number": str, "output": str, "output_format": TEXT, "tags": list},
    **{"visibility": VISIBLE, "extra_data": dict},
}


def check(data: dict, schema: dict) -> None:
    """The keys and values that Gradescope's specifications list, and no others."""
    assert data.keys() <= schema.keys()
    for key, value in data.items():
        allowed = schema[key]
        assert value in allowed if isinstance(allowed, set) else isinstance(value, allowed), key


def test_gradescope_reads_a_case_for_each_exercise():
    wrong = CheckRecord("t::a", "keeps <b>order</b>", "failed", "wrong\x1b[31m values")
    judged = StudentRecord(
        "ada", 7, {**ADA.exercises, "second": type(ZERO)("failed", 0.0, 2.0, (wrong,))}, ("late\x07",)
    )
    found = json.loads(json.dumps(result(judged, CATALOG)))
    check(found, SUBMISSION)
    for case in found["tests"]:
        check(case, CASE)
    assert found["score"] == 1.5
    assert [(c["name"], c.get("score"), c.get("max_score"), c.get("status")) for c in found["tests"]] == [
        ("first: first", 1.5, 2.0, "failed"),
        ("second: second", 0.0, 2.0, "failed"),
        ("third: third", None, None, None),
    ]
    assert found["tests"][2]["output"] == "not graded"
    assert "keeps <b>order</b>" in found["tests"][1]["output"]
    assert found["tests"][1]["output_format"] == "text"
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", found["tests"][1]["output"] + found["output"])


def test_gradescope_gets_a_file_for_each_student(tmp_path):
    names = ["ada", "Lovelace, Ada", "../up", "=cmd"]
    to_gradescope([StudentRecord(name, 7, {"first": HALF}) for name in names], CATALOG, tmp_path / "to")
    written = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("results.json"))
    assert written == sorted(f"to/{name}/results.json" for name in ["ada", "Lovelace, Ada", "up", "=cmd"])
    (tmp_path / "file").write_text("")
    with pytest.raises(KataError, match="choose another folder with --to"):
        to_gradescope([ADA], CATALOG, tmp_path / "file")


def test_json_holds_everything_and_null_for_what_was_not_judged():
    out = io.StringIO()
    to_json([ADA, BOOLE], CATALOG, out)
    data = json.loads(out.getvalue())
    assert data["exercises"]["third"] == {"section": "e02_two", "title": "third", "points": 2}
    scores = {s["student"]: {n: e["score"] for n, e in s["exercises"].items()} for s in data["students"]}
    assert scores == {
        "ada": {"first": 1.5, "second": 0.0, "third": None},
        "boolegeorge_13": {"first": 2.0, "third": 1.5},
    }
    assert data["students"][1]["exercises"]["first"]["flags"] == ["=odd", "very, odd"]


def test_the_formats():
    assert {*FORMATS, *FOLDERS} == {"csv", "canvas", "json", "gradescope"}


@pytest.mark.parametrize("format", ["csv", "canvas", "json"])
def test_a_document_goes_to_a_file_or_to_standard_output(tmp_path, format, capsys):
    save(tmp_path, "ada", ADA)
    export(tmp_path, format, None, CATALOG)
    export(tmp_path, format, tmp_path / "out.txt", CATALOG)
    printed = capsys.readouterr()
    assert printed.out == (tmp_path / "out.txt").read_text("utf-8")
    assert printed.err == ""
    with pytest.raises(KataError, match="choose another file with --to"):
        export(tmp_path, format, tmp_path / "no" / "out.txt", CATALOG)


@pytest.mark.parametrize(
    ("format", "words"),
    [("xls", "choose from csv, canvas, json, gradescope"), ("gradescope", "name a folder with --to")],
)
def test_what_cannot_be_exported_is_one_line(tmp_path, format, words):
    save(tmp_path, "ada", ADA)
    with pytest.raises(KataError, match=words) as told:
        export(tmp_path, format, None, CATALOG)
    assert "\n" not in str(told.value)


def test_json_has_the_sections_of_a_roster_that_has_any():
    def students(*roster: Student) -> list[dict[str, object]]:
        out = io.StringIO()
        to_json([ADA, BOOLE], CATALOG, out, Enrolled(roster))
        found: list[dict[str, object]] = json.loads(out.getvalue())["students"]
        return found

    assert [one["section"] for one in students(Student("ada", section="A"))] == ["A", ""]
    assert not any("section" in one for one in students(Student("ada", "Ada")))


def test_canvas_gets_what_the_courses_roster_says(tmp_path):
    enrolled = Enrolled(
        (
            Student("s1", "Ada Lovelace", "ada@x.org", ("countess", "lovelaceada_17"), "A"),
            Student("s2", "George Boole", section="B"),
        )
    )
    out = io.StringIO()
    records = [replace(ADA, student="s1"), replace(BOOLE, student="s2")]
    to_canvas(records, CATALOG, out, enrolled=enrolled)
    _, _, ada, boole = csv.reader(out.getvalue().splitlines())
    assert ada[:5] == ["Ada Lovelace", "17", "", "", "A"]
    assert boole[:5] == ["George Boole", "", "", "s2", "B"]
    out = io.StringIO()
    to_canvas(
        records[:1],
        CATALOG,
        out,
        CanvasExport([{"Student": "Ada", "ID": "9", "SIS Login ID": "ada@x.org"}]),
        enrolled=enrolled,
    )
    assert [*csv.reader(out.getvalue().splitlines())][2][:2] == ["Ada", "9"]


LOVELACE = {"Student": "Lovelace, Ada", "ID": "12", "SIS User ID": "S-12", "SIS Login ID": "ada@x.org"}
BYRON = {"Student": "Byron, Ada", "ID": "4711", "SIS User ID": "12", "SIS Login ID": "byron"}
TWINS = [{**BYRON, "ID": str(n), "SIS User ID": "", "SIS Login ID": ""} for n in (7, 8)]


@pytest.mark.parametrize(
    ("told", "rows", "ids"),
    [
        (Student("s1", "Ada Lovelace"), [LOVELACE, BYRON], "12"),
        (Student("s1", aliases=("lovelaceada_12",)), [BYRON, LOVELACE], "12"),
        (Student("Ada Lovelace_4711"), [BYRON, LOVELACE], ""),  # Moodle's number is none of Canvas's
        (Student("s1", "Byron, Ada"), [LOVELACE, *TWINS], None),
        (Student("byron", "Ada Lovelace"), [LOVELACE, BYRON], "4711"),
        (Student("s1", "", "ADA@x.org"), [BYRON, LOVELACE], "12"),
        (Student("s1", "Ada Lovelace", aliases=("Ada Lovelace_99", "12345")), None, "12345"),
        (Student("s1", "Ada Lovelace", aliases=("lovelaceada_12", "4711")), None, "12"),
        (Student("s1", "Ada Lovelace", aliases=("4711", "99")), None, ""),
        (Student("Ada Lovelace_1005"), None, ""),
    ],
)
def test_canvas_gets_the_id_that_is_the_students_and_no_other(told, rows, ids):
    out, roster = io.StringIO(), None if rows is None else CanvasExport(rows)
    to_canvas([replace(ADA, student=told.id)], CATALOG, out, roster, enrolled=Enrolled((told,)))
    found = [row[1] for row in csv.reader(out.getvalue().splitlines())][2:]
    assert found == ([] if ids is None else [ids])


def test_two_who_would_be_one_in_canvas_have_no_row_there():
    out, told = io.StringIO(), list[str]()
    enrolled = Enrolled((Student("ada", "Ada Lovelace"), Student("bob", aliases=("12",))))
    records = [replace(ADA, student=who) for who in ("ada", "bob", "lovelaceada_12", "zoe")]
    to_canvas(records, CATALOG, out, CanvasExport([LOVELACE]), told.append, enrolled)
    assert [row[0] for row in csv.reader(out.getvalue().splitlines())][2:] == ["zoe"]
    assert told == [
        "canvas.csv has no row for zoe; Canvas will ask who that is",
        "left out, as two are one in Canvas, or one may be two: ada, bob, lovelaceada_12; mend the roster",
    ]


def test_a_column_that_canvas_takes_for_a_total_is_told(tmp_path):
    told = list[str]()
    titled = replace(CATALOG.sections[0], title="Final Score")
    catalog = replace(CATALOG, sections=(titled, *CATALOG.sections[1:]))
    to_canvas([ADA], catalog, io.StringIO(), roster(tmp_path, "Final Score (5)"), told.append)
    assert [line for line in told if "Final" in line] == [
        "Canvas skips the column 'Final Score (5)', as totals of its own are called so: rename it there"
    ]


def test_an_export_of_canvas_may_have_last_and_first_names(tmp_path):
    rows = "LastName,FirstName,ID,SIS Login ID,Section,first (5)\nLovelace,Ada,12,ada,Monday,\n"
    (tmp_path / "canvas.csv").write_text(rows)
    assert canvas(ADA, roster=load_roster(tmp_path))[2][:4] == ["Lovelace, Ada", "12", "", "ada"]
