"""A class is graded by an assignment's own tests, of which one that ends its process costs no other."""

import io
import json
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from grader import cli
from grader.classroom import report, similar
from grader.classroom.cli import suite as by_suite
from grader.classroom.cli.options import ClassOptions, SuiteOptions
from grader.classroom.export import export
from grader.classroom.suite.grade import SuiteGrading
from grader.classroom.suite.inventory import catalog_of, expect_only
from grader.core.errors import KataError
from grader.records import log
from grader.records.records import UNVERIFIED, read_student
from grader.verdict.cache_key import grader_digest

pytestmark = pytest.mark.slow

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
    tests = course / suite / "tests"
    own = SuiteOptions(tests, [tests / "adapters.py"], solution=options.pop("solution", None))
    settings = ClassOptions(course / "class", results, **{"jobs": 2, "confined": False, **options})
    done = by_suite.grade(settings, own, out, err)
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


def test_verdicts_depend_on_the_code_that_runs_suites(tmp_path):
    by = SuiteGrading(tmp_path, 1, confined=True).by
    assert by["grader"] != grader_digest()


def test_nothing_is_judged_twice(course, graded, monkeypatch):
    results, *_ = graded
    monkeypatch.setattr("grader.classroom.suite.grade.SuitePool", None)
    points = course / "geometry/tests/suite.toml"
    before = points.read_text()
    points.write_text(before.replace("= 3", "= 5"))
    _, out, _ = grade(course, results)
    points.write_text(before)
    assert read_student(results / "ada.json").score == 8.0
    assert json.loads((results / ".suite.json").read_text())["files"][0]["points"]["test_area"] == 5
    assert "hal: tests/adapters.py is not in it" in out
    assert re.search(r"^scores: \d+ up, \d+ down, \d+ on other points$", out, re.MULTILINE)
    assert {c.why[-1] for c in log.read(results)} == {"first judged", "points"}
    grade(course, results)


def test_what_the_solution_does_not_pass_counts_for_nobody(course, tmp_path):
    solution = write(tmp_path / "solution", tests__adapters=CLASS["bob"])
    _, _, err = grade(course, tmp_path / "results", solution=solution)
    assert "graded for nobody, the solution does not pass it (assert 5.0 == 6.0" in err
    assert read_student(tmp_path / "results/bob.json").score == 3.0
    assert read_student(tmp_path / "results/bob.json").points == 3.0


def test_a_suite_too_slow_for_its_solution_names_what_to_say(course, tmp_path):
    shutil.copytree(course / "geometry", tmp_path / "geometry")
    shutil.copytree(course / "class", tmp_path / "class")
    (tmp_path / "geometry/tests/suite.toml").write_text("seconds = 0.5\n")
    solution = write(
        tmp_path / "solution", tests__adapters=CLASS["eve"].replace("return w", "length('')\n    return w")
    )
    told = r"test may \(0\.5 s, unless .*geometry/tests/suite.toml says `seconds = …`\)$"
    with pytest.raises(KataError, match=f"no test would count: the solution takes longer than a {told}"):
        grade(tmp_path, tmp_path / "results", solution=solution)


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
        ("adapters", b"NAME = 'caf\xe9'\n", "tests/adapters.py is not UTF-8; save it as UTF-8 text"),
    ],
)
def test_a_suite_that_does_not_import_says_so(course, tmp_path, name, text, told):
    shutil.copytree(course / "geometry", tmp_path / "geometry")
    shutil.copytree(course / "class", tmp_path / "class")
    (tmp_path / f"geometry/tests/{name}.py").write_bytes(text if isinstance(text, bytes) else text.encode())
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


def test_what_is_no_suite_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(cli.app, ["grade-suite", "tests", str(tmp_path)])
    assert isinstance(told.exception, KataError) and "the suite tests is no folder" in str(told.exception)
    assert not [*tmp_path.iterdir()]


SUITE = ["--adapter", "hw/a.py", "--handout", "hw", "--solution", "right"]
FORMERLY = {
    "grade": ["--out", "there", "--jobs", "3", "--sandbox", "off", "--roster", "r.csv", "--json"],
    "similar": ["--out", "there.html", "--threshold", "30", "--most", "7"],
}


@pytest.mark.parametrize(("verb", "options"), FORMERLY.items())
@pytest.mark.parametrize("named", [["--suite", "hw/tests"], ["--suite=hw/tests"]])
def test_the_former_spelling_asks_for_the_same(monkeypatch, verb, options, named):
    asked = []
    monkeypatch.setattr(by_suite, "grade", lambda *all_of_it: not asked.append(all_of_it))
    monkeypatch.setattr(by_suite, "assignment", lambda *all_of_it: all_of_it)
    monkeypatch.setattr(similar, "run", lambda *all_of_it: asked.append(all_of_it))
    for words in (
        [f"{verb}-suite", "hw/tests", "class", *SUITE, *options],
        [verb, "class", *named, *SUITE, *options],
        [verb, *options, *SUITE, *named, "class"],
    ):
        assert CliRunner().invoke(cli.app, words).exit_code == 0
    own = SuiteOptions(Path("hw/tests"), [Path("hw/a.py")], Path("hw"), Path("right"))
    assert asked[0] == asked[1] == asked[2] and repr(own) in repr(asked[0])
