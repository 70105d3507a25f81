"""A course with a `course.toml`: its assignments, from handing out to the numbers."""

import json
import shutil

import pytest

from grader.course import paths
from tests.grader.support.clone import SOLUTION, Clone

pytestmark = pytest.mark.slow

COURSE = """
title = "Doubling"

[assignment.week1]
title = "Week 1"
exercises = ["double"]
points = 10
due = 2026-11-20T23:59:00+01:00

[assignment.week2]
exercises = ["twice", "again"]
points = { twice = 3 }
"""
WRONG = SOLUTION.replace("* 2.0", "* 3.0")


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """A clone with four exercises, three of them set; two students have handed in the first week's."""
    clone = Clone(tmp_path_factory.mktemp("term") / "torchkata")
    for slug in ("double", "twice", "again", "never"):
        clone.add(slug)
    (clone.root / "course.toml").write_text(COURSE)
    for name in ("README.md", "Makefile"):  # which a release has
        shutil.copy(paths.ROOT / name, clone.root)
    for student, answer in (("ada", SOLUTION), ("bob", WRONG)):
        folder = clone.root / "submissions" / student / "e01_tensors"
        folder.mkdir(parents=True)
        (folder / "double.py").write_text(answer)
    (clone.root / "submissions/ada/e01_tensors/never.py").write_text(SOLUTION)
    return clone


@pytest.fixture(scope="module")
def graded(term):
    """The first week is graded by what was handed in, the second one because it is asked for."""
    for arguments in ((), ("--assignment", "week2")):
        status, told = term.kata("grade", "submissions", "--sandbox", "off", *arguments)
        assert status == 0, told
    return {who: json.loads((term.root / "results" / f"{who}.json").read_text()) for who in ("ada", "bob")}


def test_what_counts_is_what_is_set(graded):
    ada, bob = graded["ada"]["exercises"], graded["bob"]["exercises"]
    assert {slug: e["points"] for slug, e in ada.items()} == {"double": 10, "twice": 3, "again": 1}
    assert (ada["double"]["score"], bob["double"]["score"]) == (10, 0)
    assert (ada["twice"]["status"], graded["ada"]["points"]) == ("todo", 14)


@pytest.mark.usefixtures("graded")
def test_tables_and_pages_have_one_assignment(term):
    assert term.kata("export", "--assignment", "week1")[1] == [
        "student,double,week1,total,points,flags",
        "ada,10,10,10,10,",
        "bob,0,0,0,10,",
    ]
    assert term.kata("export")[1][0] == "student,double,twice,again,week1,week2,total,points,flags"
    status, told = term.kata("report", "--assignment", "week2", "--to", "week2")
    assert status == 0, told
    page = (term.root / "week2/students/ada.html").read_text()
    assert "0 of 3</td>" in page and "of 10</td>" not in page


def test_what_is_handed_out_is_what_is_set(term, tmp_path):
    def released(*arguments):
        target = tmp_path / "-".join(["kata", *arguments]).replace("--", "")
        status, told = term.kata("release", str(target), *arguments)
        assert status == 0, told
        return sorted(file.stem for file in (target / "exercises").glob("*/[!_]*.py"))

    assert released() == ["again", "double", "twice"]
    assert released("--assignment", "week1") == ["double"]
    assert released("--only", "never") == ["never"]


def test_who_hands_out_what_is_unfinished_is_told(term, tmp_path):
    solution = term.root / "solutions/e01_tensors/double.py"
    before = solution.read_text()
    solution.write_text(f"{before}# TODO: the reference\n")
    status, told = term.kata("release", str(tmp_path / "kata"), "--assignment", "week1")
    solution.write_text(before)
    note = "note: double is unfinished: `kata audit --only double` lists what is to do"
    assert status == 0 and note in told


@pytest.mark.usefixtures("graded")
def test_the_table_has_what_was_asked_for(term):
    status, told = term.kata("grade", "submissions", "--assignment", "week1", "--sandbox", "off")
    ada = next(line for line in told if line.startswith("ada"))
    assert status == 0 and ada.split()[:3] == ["ada", "10", "10"]
    assert len(json.loads((term.root / "results/ada.json").read_text())["exercises"]) > 1


def test_notebooks_are_of_assignments(term, tmp_path):
    pytest.importorskip("nbgrader.api", reason="an optional extra: torchkata[class]")
    assert term.kata("notebooks", str(tmp_path / "all"))[0] == 0
    assert sorted(one.name for one in (tmp_path / "all/source").iterdir()) == ["week1", "week2"]
    assert term.kata("notebooks", str(tmp_path / "one"), "--assignment", "week1")[0] == 0
    cells = json.loads((tmp_path / "one/source/week1/week1.ipynb").read_text())["cells"]
    assert cells[0]["source"] == ["# Week 1"]
    assert [c["metadata"]["nbgrader"]["points"] for c in cells if "points" in str(c["metadata"])] == [10]


def test_a_notebook_of_an_assignment_is_read(term, tmp_path):
    pytest.importorskip("nbgrader.api", reason="an optional extra: torchkata[class]")
    assert term.kata("notebooks", str(tmp_path / "nb"), "--assignment", "week1")[0] == 0
    there = tmp_path / "nb/submitted/eve/week1"
    there.mkdir(parents=True)
    shutil.copy(tmp_path / "nb/source/week1/week1.ipynb", there)  # the solutions stand in it
    status, told = term.kata(
        "grade", str(tmp_path / "nb"), "--sandbox", "off", "--out", str(tmp_path / "out")
    )
    assert status == 0, told
    record = json.loads((tmp_path / "out/eve.json").read_text())
    assert {slug: e["score"] for slug, e in record["exercises"].items()} == {"double": 10}


@pytest.mark.parametrize(
    "verb", ["grade submissions", "similar", "release ../x", "notebooks ../x", "report", "export"]
)
def test_an_unknown_assignment_is_one_line(term, verb):
    status, told = term.kata(*verb.split(), "--assignment", "wek1")
    assert status == 2
    (line,) = told
    assert line.startswith("kata: no assignment is called 'wek1' (did you mean 'week1' or 'week2'?); course")


def test_an_assignment_is_narrowed(term, graded, tmp_path):
    where = ("submissions", "--sandbox", "off", "--out", str(tmp_path))
    status, told = term.kata("grade", *where, "--assignment", "week2", "--only", "e01", "--only", "twice")
    assert status == 0, told
    assert [*json.loads((tmp_path / "ada.json").read_text())["exercises"]] == ["twice", "again"]
    status, told = term.kata("grade", *where, "--assignment", "week2", "--only", "double")
    assert (status, told) == (2, ["kata: --only double: week2 has nothing of it; leave one of them out"])


def test_what_nobody_was_judged_on_is_told(term, graded):
    (term.root / "course.toml").write_text(COURSE + '[assignment.week3]\nexercises = ["never"]\n')
    status, told = term.kata("export", "--assignment", "week3")
    (term.root / "course.toml").write_text(COURSE)
    assert status == 2 and "holds no results of week3; run `kata grade --assignment week3`" in told[-1]
