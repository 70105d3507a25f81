"""Where the course is looked for, from wherever somebody types `kata`."""

import os
import re
import subprocess
import sys

import pytest

from grader.course import paths
from tests.grader.support.clone import SOLUTION, STUB, Clone


@pytest.fixture
def course(tmp_path):
    """A course without a tool of its own, as `kata init` writes it."""
    clone = Clone(tmp_path / "course")
    clone.add("double")
    (clone.root / "grader").rename(tmp_path / "elsewhere")
    return clone


def kata(folder, *arguments, **environment):
    """A verb of this clone's tool in some folder: its exit status and lines."""
    return run(folder, "-m", "grader", *arguments, **environment)


def run(folder, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(paths.PACKAGE.parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()


def found(monkeypatch, folder, named=None):
    monkeypatch.chdir(folder)
    monkeypatch.delenv(paths.VARIABLE, raising=False)
    if named:
        monkeypatch.setenv(paths.VARIABLE, str(named))
    return paths._found()


def test_from_the_current_folder_upward(monkeypatch, course):
    below = course.root / "tests" / "public" / "e01_tensors"
    assert found(monkeypatch, course.root) == found(monkeypatch, below) == course.root


def test_elsewhere_the_clone_that_the_package_stands_in(monkeypatch, tmp_path):
    assert found(monkeypatch, tmp_path) == paths.PACKAGE.parent


def test_from_a_folder_that_is_named(monkeypatch, course, tmp_path):
    assert found(monkeypatch, tmp_path, named=course.root / "tests") == course.root
    assert found(monkeypatch, course.root, named=tmp_path) == tmp_path  # which is none, and it is said


def test_elsewhere_without_a_clone_there_is_none(tmp_path):
    for arguments in ([], ["watch"], ["hint", "double"], ["grade", "."], ["audit"], ["export"]):
        code, lines = kata(tmp_path, *arguments, **{paths.VARIABLE: str(tmp_path)})
        assert (code, len(lines)) == (2, 1)
        assert "no course here" in lines[0] and "`kata init DIR` makes one" in lines[0]
    assert kata(tmp_path, "grade", "--help", **{paths.VARIABLE: str(tmp_path)})[0] == 0


@pytest.mark.parametrize("sandbox", ["required", "off"])
def test_a_tool_from_elsewhere_judges_the_course_around_it(course, tmp_path, sandbox, request):
    if sandbox == "required":
        request.getfixturevalue("confines")
    for student, text in (("ada", SOLUTION), ("bob", STUB)):
        file = tmp_path / "class" / student / "e01_tensors" / "double.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    arguments = ("grade", str(tmp_path / "class"), "--sandbox", sandbox, "--json")
    code, lines = kata(course.root / "tests", *arguments)
    assert code == 0, lines
    students = "".join(lines).partition('"changes"')[0]
    assert re.findall(r'"status": "(\w+)"', students) == ["passed", "todo"]


FRESH = """
from grader.course.catalog import load
from grader.plugin.subprocess_run import Fresh
from grader.protocol.job import Job
exercise = load().exercise("double")
found = Fresh([exercise]).judge_one(Job(exercise, exercise.file("solutions").read_bytes(), 0))
print(*(check.outcome for check in found.checks.values()))
"""


def test_without_fork_it_does_so_too(course):
    code, lines = run(course.root, "-c", FRESH)
    assert (code, lines) == (0, ["passed passed passed"])


def test_what_needs_tool_and_course_together_says_so(course):
    for verb in ("audit", "new", "release"):
        code, lines = kata(course.root, verb)
        assert (code, len(lines)) == (2, 1) and f"`kata {verb}` needs what a copy" in lines[0]
    assert not any(line.startswith("  audit ") for line in kata(course.root, "--help")[1])


@pytest.mark.slow
def test_an_instructors_own_exercises_are_written_and_tried_apart_from_the_tool(tmp_path):
    section = tmp_path / "exercises" / "e20_tuning" / "section.toml"
    section.parent.mkdir(parents=True)
    section.write_text('title = "Tuning"\n')
    assert kata(tmp_path, "new", "e20", "shares")[0] == 2  # it could be a learner's
    (tmp_path / "course.toml").touch()
    code, lines = kata(tmp_path, "new", "e20", "shares")
    assert code == 0 and {"made conftest.py", "made pyproject.toml", "made tests/__init__.py"} < set(lines)
    code, lines = kata(tmp_path, "audit")
    assert (code, lines[-1].split(",")[0]) == (1, "audit: 1 exercises")
    assert all(": to do in " in line for line in lines[:-1]), lines
    answer = tmp_path / "submissions" / "ada" / "e20_tuning" / "shares.py"
    answer.parent.mkdir(parents=True)
    answer.write_bytes((tmp_path / "solutions" / "e20_tuning" / "shares.py").read_bytes())
    code, lines = kata(tmp_path, "grade", "submissions", "--sandbox", "off", "--json")
    assert code == 0 and any('"status": "passed"' in line for line in lines), lines
    assert kata(tmp_path, "release", "students")[0] == 2
