"""A class is graded by an assignment's own tests, of which one that ends its process costs no other."""

import io
import json
import shutil
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from grader import cli, report
from grader.cli import suite as by_suite
from grader.core.errors import KataError
from grader.export import export
from grader.records.records import UNVERIFIED, read_student
from grader.suite.inventory import catalog_of, expect_only

TESTS = """
import math
import sys

import pytest
from .adapters import area, length


@pytest.mark.parametrize("n", [1, 2])
def test_length(n):
    "A line of n dots is n long."
    assert length("." * n) == n


def test_area(sides):
    assert area(*sides) == pytest.approx(math.prod(sides))


@pytest.mark.skipif(sys.platform != "amiga", reason="amigas alone")
def test_amiga():
    assert length("x") == 1


class TestEmpty:
    def test_length(self):
        assert length("") == 0
"""
CONFTEST = """
import pytest

@pytest.fixture
def sides():
    return (2.0, 3.0)
"""
ADAPTERS = """
def length(text):
    raise NotImplementedError

def area(width, height):
    raise NotImplementedError
"""
RIGHT = "def length(text):\n    return len(text)\n\ndef area(width, height):\n    return width * height\n"
CLASS = {
    "ada": RIGHT,
    "bob": RIGHT.replace("width * height", "width + height"),
    "cyn": ADAPTERS,
    "dan": RIGHT.replace("return len(text)", "import os\n    os._exit(0)"),
    "eve": RIGHT.replace("return len(text)", "while True:\n        pass"),
    "flo": "import nowhere\n",
    "gus": RIGHT.replace("return len(text)", "sum(range(10**15))"),
    "ian": f"{RIGHT}\nwhile True:\n    pass\n",
    "joe": f"import pytest\n{RIGHT}".replace("return len(text)", "pytest.exit('enough')"),
    "kim": f"import pytest\n{RIGHT}".replace("return len(text)", "pytest.skip('not me')"),
}


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        file = root / name.replace("__", "/", 1)
        file = file.with_name(f"{file.name}.py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    home = tmp_path_factory.mktemp("course")
    write(home / "geometry", tests__adapters=ADAPTERS, tests__conftest=CONFTEST, tests__test_shapes=TESTS)
    (home / "geometry/tests/__init__.py").touch()
    (home / "geometry/tests/suite.toml").write_text(
        'seconds = 2\n[points]\n"test_shapes.py::test_area" = 3\n'
    )
    for student, text in CLASS.items():
        write(home / "class" / student, tests__adapters=text, tests__conftest="raise SystemExit")
    write(home / "class/hal", area=RIGHT)
    return home


def grade(course: Path, results: Path, suite: str = "geometry", **options):
    out, err = (Console(file=io.StringIO(), width=200) for _ in range(2))
    settings = {
        "solution": None,
        "handout": None,
        "jobs": 2,
        "confined": False,
        "as_json": False,
        "roster": None,
        **options,
    }
    tests = course / suite / "tests"
    where = {"adapters": [tests / "adapters.py"], "results": results}
    done = by_suite.grade(course / "class", tests, **where, out=out, err=err, **settings)
    return done, out.file.getvalue(), err.file.getvalue()


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory):
    results = tmp_path_factory.mktemp("results")
    done, out, err = grade(course, results)
    return results, done, out, err


@pytest.mark.parametrize(
    ("student", "status", "score"),
    [
        ("ada", "passed", 6.0),
        ("bob", "partial", 3.0),
        ("cyn", "todo", 0.0),
        ("dan", "crashed", 3.0),
        ("eve", "timeout", 3.0),
        ("flo", "broken", 0.0),
        ("gus", "timeout", 3.0),
        ("hal", "not_graded", 0.0),
        ("ian", "timeout", 0.0),
        ("joe", "crashed", 3.0),
        ("kim", "partial", 3.0),
    ],
)
def test_each_is_scored_by_the_tests_that_pass(graded, student, status, score):
    record = read_student(graded[0] / f"{student}.json")
    assert (record.exercises["shapes"].status, record.score) == (status, score)
    assert record.points == (6.0 if student != "hal" else 0.0)


def test_the_record_says_what_it_rests_on(graded):
    results, done, out, _ = graded
    assert done
    assert UNVERIFIED in read_student(results / "ada.json").notes
    assert out.count(UNVERIFIED) == 1


def test_an_assert_shows_both_sides(graded):
    checks = read_student(graded[0] / "bob.json").exercises["shapes"].checks
    (wrong,) = [check for check in checks if check.outcome == "failed"]
    assert (wrong.id, wrong.title) == ("test_area", "test_area (3 points)")
    assert wrong.message.startswith("assert 5.0 == 6.0 ± 6.0e-06\n  tests/test_shapes.py:16 ")


def test_the_table_has_the_tests_that_pass_of_each_file(graded):
    rows = {line.split()[0]: line.split()[3:] for line in graded[2].splitlines() if line.strip()}
    assert rows["student"] == ["shapes"]
    assert (
        rows["ada"] == ["4", "of", "4"] and rows["bob"] == ["3", "of", "4"] and rows["hal"] == ["not_graded"]
    )


def test_why_nothing_ran_is_said_once(graded):
    record = read_student(graded[0] / "flo.json").exercises["shapes"]
    assert record.flags == ("ModuleNotFoundError: No module named 'nowhere'",)
    assert sum("nowhere" in check.message for check in record.checks) == 1


def test_a_skipped_test_counts_for_nobody(graded):
    results, _, _, err = graded
    assert "graded for nobody, skipped: amigas alone: tests/test_shapes.py::test_amiga" in err
    outcomes = {c.id: c.outcome for c in read_student(results / "ada.json").exercises["shapes"].checks}
    assert outcomes.pop("test_amiga") == "not_graded" and {*outcomes.values()} == {"passed"}


def test_nothing_is_judged_twice(course, graded, monkeypatch):
    results, *_ = graded
    monkeypatch.setattr("grader.suite.grade.SuitePool", None)
    points = course / "geometry/tests/suite.toml"
    before = points.read_text()
    points.write_text(before.replace("= 3", "= 5"))
    _, out, _ = grade(course, results)
    points.write_text(before)
    assert read_student(results / "ada.json").score == 8.0
    assert json.loads((results / ".suite.json").read_text())["files"][0]["points"]["test_area"] == 5
    assert "hal: tests/adapters.py is not in it" in out
    grade(course, results)


def test_what_the_solution_does_not_pass_counts_for_nobody(course, tmp_path):
    solution = write(tmp_path / "solution", tests__adapters=CLASS["bob"])
    _, _, err = grade(course, tmp_path / "results", solution=solution)
    assert "graded for nobody, the solution does not pass it (assert 5.0 == 6.0" in err
    assert read_student(tmp_path / "results/bob.json").score == 3.0
    assert read_student(tmp_path / "results/bob.json").points == 3.0


def test_an_unknown_test_is_told_with_the_nearest(course, tmp_path):
    with pytest.raises(KataError, match=r"no test is called 'test_shapes.py::test_aera' \(did you mean"):
        points = course / "geometry/tests/suite.toml"
        before = points.read_text()
        points.write_text(before.replace("test_area", "test_aera"))
        try:
            grade(course, tmp_path / "results")
        finally:
            points.write_text(before)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("adapters", "import geometry\n", r"No module named 'geometry'.*--solution"),
        ("conftest", "import geometry\n", r"No module named 'geometry'.*--solution"),
        ("conftest", "import os\nos._exit(0)\n", "what the tests import ends the process"),
    ],
)
def test_a_suite_that_does_not_import_says_so(course, tmp_path, name, text, told):
    shutil.copytree(course / "geometry", tmp_path / "geometry")
    shutil.copytree(course / "class", tmp_path / "class")
    (tmp_path / f"geometry/tests/{name}.py").write_text(text)
    with pytest.raises(KataError, match=told):
        grade(tmp_path, tmp_path / "results")


def test_results_of_a_suite_are_no_place_for_others(course, graded, tmp_path):
    results, *_ = graded
    shutil.copytree(course / "geometry", tmp_path / "algebra")
    shutil.copytree(course / "class", tmp_path / "class")
    with pytest.raises(
        KataError, match=r"holds results of the suite in .*geometry.tests; choose another folder"
    ):
        grade(tmp_path, results, suite="algebra")
    with pytest.raises(KataError, match="holds results of the suite in"):
        expect_only(results, None)


@pytest.mark.parametrize("format", ["csv", "canvas", "json"])
def test_results_are_exported_by_file_of_tests(graded, tmp_path, format):
    export(graded[0], format, tmp_path / "out", catalog_of(graded[0]))
    text = (tmp_path / "out").read_text()
    assert {"csv": "bob,3,3,3,6,", "canvas": "bob,,,bob,,3,3", "json": '"title": "tests/test_shapes.py"'}[
        format
    ] in text


def test_the_report_shows_tests_and_what_they_are_worth(graded, tmp_path):
    out = Console(file=io.StringIO())
    report.run(graded[0], tmp_path, out, out)
    page = (tmp_path / "students/bob.html").read_text()
    assert "test_area (3 points)" in page and "assert 5.0 == 6.0" in page
    assert UNVERIFIED.replace("'", "&#39;") in page
    assert (tmp_path / "index.html").read_text().count(UNVERIFIED.replace("'", "&#39;")) == 1


def test_who_handed_in_nothing_is_a_row(course, graded, tmp_path):
    shutil.copytree(graded[0], tmp_path / "results")
    (tmp_path / "roster.csv").write_text("student,name\nada,Ada Lovelace\nzoe,Zoe\n")
    _, out, err = grade(course, tmp_path / "results", roster=tmp_path / "roster.csv", as_json=True)
    told = json.loads(out)
    records = {student["student"]: student for student in told["students"]}
    assert records["zoe"]["exercises"]["shapes"]["status"] == "todo"
    assert records["zoe"]["notes"] == ["handed in nothing"]
    assert told["exercises"] == {"shapes": {"section": "", "title": "tests/test_shapes.py", "points": 6.0}}
    assert "not in the roster, kept under this name: bob" in err
    assert any(note.startswith("graded for nobody, skipped: amigas alone") for note in told["notes"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--suite", "tests", "--only", "e01"], "--only does not go with --suite"),
        (["--suite", "tests", "--gradebook", "sqlite:///x.db"], "--gradebook does not go with --suite"),
        (["--adapter", "tests/adapters.py"], "--adapter is of use with --suite alone"),
        (["--suite", "tests"], "--suite tests is no folder"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(cli.app, ["grade", str(tmp_path), *options])
    assert isinstance(told.exception, KataError) and message in str(told.exception)
    assert not [*tmp_path.iterdir()]
