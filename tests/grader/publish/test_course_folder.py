"""What `kata init --course` writes: a course that grades with the exercises of a torchkata elsewhere."""

import json
import os
import re
import subprocess
import sys

import pytest

from grader.core.errors import KataError
from grader.course import course_file, paths, roster
from grader.course.assignments import arranged
from grader.course.policy import Policy
from grader.course.rows import read
from grader.publish import course_folder
from tests.grader.support.clone import SOLUTION, Clone

SHIPPED = read(paths.EXERCISES)


@pytest.fixture
def folder(tmp_path):
    course_folder.write(tmp_path / "mine")
    return tmp_path / "mine"


def kata(torchkata, folder, *arguments):
    """A verb of that torchkata, in the folder: the lines that it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "grader", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(torchkata.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (done.stdout + done.stderr).splitlines()


def test_as_it_is_written_it_says_nothing_new(folder):
    told = course_file.load(folder)
    assert (told.title, told.policy, told.assignments) == ("Deep learning", Policy(), ())
    assert roster.load(folder / "roster.csv").students == ()
    assert {file.name for file in folder.iterdir()} == {
        "course.toml",
        "roster.csv",
        "README.md",
        ".gitignore",
    }


def test_its_comments_are_an_example_that_holds(folder):
    file = folder / "course.toml"
    file.write_text(re.sub(r"^# (?=\[|\w+ = )", "", file.read_text(), flags=re.MULTILINE))
    (week1,) = arranged(SHIPPED, course_file.load(folder)).course
    assert (week1.name, week1.title, week1.due is None) == ("week1", "Week 1: tensors", False)
    assert round(sum(e.points for e in week1.exercises), 4) == 20
    each = file.read_text().replace("points = 20", "points = { merge_heads = 3 }")
    file.write_text(each)
    (week1,) = arranged(SHIPPED, course_file.load(folder)).course
    assert {e.slug: e.points for e in week1.exercises}["merge_heads"] == 3


def test_nothing_is_overwritten(folder):
    with pytest.raises(KataError, match="not empty"):
        course_folder.write(folder)


@pytest.mark.slow
def test_it_holds_no_copy_and_survives_an_upgrade(tmp_path):
    torchkata, mine = Clone(tmp_path / "torchkata"), tmp_path / "mine"
    torchkata.add("double")
    kata(torchkata, tmp_path, "init", "--course", str(mine))
    with (mine / "course.toml").open("a") as file:
        file.write('[assignment.week1]\nexercises = ["double"]\npoints = 5\n')
    (mine / "submissions/ada/e01_tensors").mkdir(parents=True)
    (mine / "submissions/ada/e01_tensors/double.py").write_text(SOLUTION)
    kata(torchkata, mine, "grade", "submissions", "--sandbox", "off")
    before = (mine / "results/ada.json").read_text()
    assert (json.loads(before)["score"], json.loads(before)["points"]) == (5, 5)

    torchkata.add("twice")  # what an upgrade brings is not set
    kata(torchkata, mine, "grade", "submissions", "--sandbox", "off")
    assert json.loads((mine / "results/ada.json").read_text())["exercises"].keys() == {"double"}
    assert kata(torchkata, mine / "submissions", "export", "--results", "../results")[1:] == ["ada,5,5,5,5,"]
    assert not [*mine.rglob("*double*.toml"), *mine.glob("exercises")]
