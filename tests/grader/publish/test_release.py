"""A release for students: what it must not hold, and a learner's first hour in it."""

import io
import os
import re
import shutil
import subprocess
import sys

import pytest
from rich.console import Console

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import load
from grader.course.rows import read
from grader.learner.outcome import Lesson
from grader.learner.watch import screen
from grader.publish.release import release

LONG = 40
"""Shorter lines are what any two programs have in common."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("release") / "kata"
    assert release(target, None) == len(load().exercises)
    return target


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def lines(tree):
    """The telling lines of every file in one of the five places: not those that its stub shows anyway."""
    for exercise in (e for e in load().exercises if tree in e.trees):
        shown = exercise.file("exercises").read_text("utf-8") + exercise.file("public").read_text("utf-8")
        text = exercise.file(tree).read_text("utf-8")
        for line in map(str.strip, text.splitlines()):
            if len(line) >= LONG and line not in shown and not line.startswith(("import ", "from ", '"""')):
                yield exercise, line


@pytest.mark.parametrize("tree", ["solutions", "hidden"])
def test_no_line_of_what_is_kept_back(folder, tree):
    texts = {p: p.read_text("utf-8") for end in ("py", "md", "toml") for p in folder.rglob(f"ex*/**/*.{end}")}
    texts |= {p: p.read_text("utf-8") for p in (folder / "tests").rglob("*.py")}
    whole = {e.slug for e in load().exercises if e.is_capstone}  # whose starts show what is right as well
    parts = (text for place, text in texts.items() if not whole & {*place.parts})
    every, kept = "\n".join(parts), list(lines(tree))
    idioms = [line for _, line in kept if line in every]
    assert len(idioms) <= len(kept) / 50, idioms  # what one exercise does, another may show
    own = [line for e, line in kept if any(line in text for p, text in texts.items() if e.slug in p.name)]
    assert not own


def test_no_folder_of_what_is_kept_back(folder):
    assert not (folder / "solutions").exists() and not (folder / "samples").exists()
    assert {p.name for p in (folder / "tests").iterdir()} == {"__init__.py", "public"}


def test_what_instructors_need_is_left_out(folder):
    assert {p.suffix for p in (folder / "docs").rglob("*") if p.is_file()} == {".svg"}
    makefile = (folder / "Makefile").read_text("utf-8")
    targets = re.findall(r"^([a-z]+):", makefile, re.MULTILINE)
    assert (targets, ".PHONY: learn setup clean\n" in makefile) == (["setup", "learn", "book", "clean"], True)


def test_a_learners_first_hour(folder, tmp_path):
    folder = shutil.copytree(folder, tmp_path / "clone")  # the others look at it untouched
    code, said = run(folder, "grader", "status")
    assert code == 0 and "next: first_tensor" in said
    code, said = run(folder, "grader", "hint", "merge_heads")
    assert code == 0 and "1/" in said
    code, said = run(folder, "grader", "find", "loss is nan with amp")
    assert code == 0 and "look at, in order" in said
    code, said = run(folder, "pytest", "-q", "-p", "no:randomly", "-k", "merge_heads")
    assert code == 1 and "kata hint merge_heads" in said
    exercise = load().exercise("merge_heads")
    (folder / "exercises" / exercise.relative).write_bytes(exercise.file("solutions").read_bytes())
    code, said = run(folder, "pytest", "-q", "-p", "no:randomly", "-k", "merge_heads")
    assert code == 0, said
    code, said = run(folder, "grader", "solution", "merge_heads", "--reveal")
    assert code == 2 and "released without" in said and said.count("\n") == 1


def test_that_more_is_graded_than_seen_is_said(folder, monkeypatch):
    readme = (folder / "README.md").read_text("utf-8")
    assert "hidden ones grade too" in readme and "kata capstone" not in readme
    assert "hidden checks grade too" in run(folder, "grader", "status")[1]
    assert "hidden checks" not in run(paths.ROOT, "grader", "status")[1]
    passed = Lesson(load().exercise("merge_heads"), "done", ("all",), (), (), "", "")
    for hidden, is_told in ((folder / "tests" / "hidden", True), (paths.HIDDEN, False)):
        monkeypatch.setattr(paths, "HIDDEN", hidden)
        console = Console(record=True, width=100, file=io.StringIO())
        console.print(screen.lesson(passed, None))
        shown = console.export_text()
        assert ("hidden checks grade too" in shown) == is_told
        assert ("public checks pass, " in shown and "hidden ones decide" in shown) == is_told


def test_the_starts_are_known_there(folder):
    exercises = read(folder / "exercises").exercises
    assert len(exercises) == len(load().exercises)
    assert all(e.is_start(e.read(folder / "exercises" / e.relative)) for e in exercises)


def test_there_are_a_learners_verbs_alone(folder):
    code, said = run(folder, "grader", "--help")
    shown = re.findall(r"^  ([a-z]+)  ", said.partition("Commands:")[2], re.MULTILINE)
    assert (code, shown) == (
        0,
        [
            "status",
            "list",
            "find",
            "read",
            "watch",
            "see",
            "again",
            "path",
            "hint",
            "reset",
            "solution",
            "update",
            "init",
        ],
    )
    assert "grade" not in said.partition("Commands:")[2]
    for verb in ("audit", "grade", "new", "release", "similar"):
        code, said = run(folder, "grader", verb)
        assert (code, said.count("\n")) == (2, 1) and f"`kata {verb}` needs what a copy" in said


def test_a_part_of_the_course(tmp_path):
    assert release(tmp_path / "one", ["merge_heads"]) == 1
    assert {p.name for p in (tmp_path / "one" / "exercises").rglob("[!_]*.py")} == {
        "merge_heads.py",
        "see.py",
    }
    code, said = run(tmp_path / "one", "grader", "status")
    assert code == 0 and "0/1" in said
    code, said = run(tmp_path / "one", "grader", "hint", "describe")
    assert (code, said.count("\n")) == (2, 1) and "no exercise is called 'describe'" in said


def test_steps_come_along_with_their_section(folder, tmp_path):
    names = {p.name for p in folder.rglob("*first_tensor.py")}
    assert names == {"first_tensor.py", "test_first_tensor.py"}
    steps = load().select(["e01/steps"])
    assert release(tmp_path / "steps", ["e01_tensors/steps"]) == len(steps)
    assert not (tmp_path / "steps" / "exercises" / "e01_tensors" / "merge_heads.py").exists()
    assert [e.slug for e in read(tmp_path / "steps" / "exercises").exercises] == [e.slug for e in steps]
    answer = tmp_path / "steps" / "exercises" / steps[0].relative
    answer.write_bytes(steps[0].file("solutions").read_bytes())
    code, said = run(tmp_path / "steps", "pytest", "-q", "-p", "no:randomly", "-k", steps[0].slug)
    assert code == 0, said


def test_bad_places_are_one_line(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(KataError, match="not empty"):
        release(tmp_path, None)
    assert (tmp_path / "file").read_text() == "mine"
    with pytest.raises(KataError, match="inside this clone"):
        release(paths.ROOT / "out", None)
