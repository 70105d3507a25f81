"""A start is known by its digest: what was written over it is never given out, and never taken for it."""

import re

import pytest

from grader.course.catalog import load
from tests.grader.support.clone import SOLUTION, STUB, Clone

pytestmark = pytest.mark.slow

FILE = "exercises/e01_tensors/double.py"


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path)
    clone.add("double")
    clone.add("twice")
    return clone


@pytest.mark.parametrize("exercise", load().exercises, ids=lambda e: e.slug)
def test_every_start_is_known(exercise):
    start, solution = (exercise.content(tree) for tree in ("exercises", "solutions"))
    assert exercise.is_start(start) and not exercise.is_start(solution)
    if exercise.is_project:  # whose bytes are those of several files
        return
    assert exercise.is_start(start.replace(b"\n", b"\r\n")) and exercise.is_start(start + b"\n\n")
    assert not exercise.is_start(start + b"# mine")


@pytest.mark.parametrize("arguments", [["release"], ["release", "--only", "e01"], ["notebooks"]])
def test_a_solved_exercise_is_not_given_out(clone, tmp_path, arguments):
    (clone.root / FILE).write_text(SOLUTION)
    out = tmp_path.parent / f"{tmp_path.name}-out"
    code, lines = clone.kata(*arguments, str(out))
    assert (code, len(lines), out.exists()) == (2, 1, False)
    assert FILE in lines[0] and "twice" not in lines[0] and "kata reset" in lines[0]


def test_the_start_counts_as_not_handed_in_where_it_was_solved(clone):
    (clone.root / FILE).write_text(SOLUTION)
    for student, text in (("ada", SOLUTION), ("bob", STUB)):
        file = clone.root / "submissions" / student / "e01_tensors" / "double.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    code, lines = clone.kata("grade", "submissions", "--only", "double", "--sandbox", "off", "--json")
    assert code == 0
    students = "".join(lines).partition('"changes"')[0]
    assert re.findall(r'"status": "(\w+)"', students) == ["passed", "todo"]


def test_reset_finds_the_start_among_other_commits(clone):
    place = clone.root / FILE
    place.write_text(STUB.replace("Twice", "Two times"))
    clone.commit("an older start")
    place.write_text(STUB)
    clone.commit("the start")
    place.write_text("my work")
    (clone.root / "solutions/e01_tensors/double.py").unlink()
    clone.commit("a learner's, with another file")
    place.unlink()
    clone.commit("gone")
    assert clone.kata("reset", "double", "--yes")[0] == 0
    assert place.read_text() == STUB


def test_reset_never_puts_a_solution_there(clone):
    place = clone.root / FILE
    place.write_text(SOLUTION)
    code, lines = clone.kata("reset", "double", "--yes")
    assert (code, len(lines)) == (2, 1) and "git cannot be asked" in lines[0]
    clone.commit("all of it")
    place.write_text("my work")
    code, lines = clone.kata("reset", "double", "--yes")
    assert (code, len(lines)) == (2, 1) and "no commit here holds the start of double" in lines[0]
    assert place.read_text() == "my work"
    place.write_text(STUB)
    assert "already" in clone.kata("reset", "double", "--yes")[1][0]


def test_the_audit_tells_what_to_write_and_writes_it(clone):
    (clone.root / FILE).write_text(STUB.replace("Double a tensor", "Double a number"))
    (clone.root / "solutions/e01_tensors/double.py").write_text(
        SOLUTION.replace("Double a tensor", "Double a number")
    )
    before = clone.catalog.read_text()
    code, lines = clone.kata("audit", "--only", "double")
    told = next(line for line in lines if line.startswith("double: the catalog knows another start"))
    assert code == 1
    code, lines = clone.kata("audit", "--only", "double", "--write-starts")
    assert (code, len(lines)) == (0, 1), lines
    was, now = (set(text.splitlines()) for text in (before, clone.catalog.read_text()))
    (line,) = now - was
    assert line in told
    rows = "\n".join(line for line in before.splitlines() if "start =" not in line)
    clone.catalog.write_text(rows.replace("[exercise.twice]", "# on what comes next\n\n[exercise.twice]"))
    assert clone.kata("audit", "--write-starts")[0] == 0
    assert len([line for line in clone.catalog.read_text().splitlines() if "start =" in line]) == 2
    assert clone.catalog.read_text().index("start =") < clone.catalog.read_text().index("# on what")
