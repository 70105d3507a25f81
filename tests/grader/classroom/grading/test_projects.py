"""An exercise whose answer is a folder, from `kata new` to what a class is handed back."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grader.support.clone import Clone
from tests.grader.support.project import ENDING, LACKING, RIGHT, START, WRONG, add_project, write

pytestmark = pytest.mark.slow

READ_ONLY = """
from pathlib import Path

for place in [Path(__file__).parent / "data", {data!r}]:
    try:
        Path(place, "corpus.txt").write_text("a a")
    except OSError:
        continue
    raise RuntimeError("data can be written")
"""
NO_SUITE = """
import sys
from pathlib import Path

names = [name for name in sys.modules if name.startswith("tests.")]
assert not names, names
assert not list(Path({tests!r}).rglob("*.py")), "suites are there to be read"
"""
RAISING = {
    **RIGHT,
    "model.py": RIGHT["model.py"].replace("return row", "row = row.nothing\n        return row"),
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone"))
    add_project(clone)
    return clone


def statuses(out: Path) -> dict[str, str]:
    records = {file.stem: json.loads(file.read_text()) for file in out.glob("*.json")}
    return {student: record["exercises"]["next_word"]["status"] for student, record in records.items()}


SHADOWS = {
    name: "import os\n\nos._exit(0)\n"
    for name in (
        *("conftest.py", "torch.py", "pytest.py", "sitecustomize.py", "test_next_word.py"),
        *("grader/__init__.py", "tests/__init__.py", "tests/conftest.py"),
    )
}
"""What in other folders would be read before any test."""
CLASS = {"ada": RIGHT, "bob": WRONG, "cem": LACKING, "dot": ENDING, "eva": START, "fay": RAISING}
CLASS |= {"gus": {**RIGHT, **SHADOWS}, "hal": {**WRONG, **SHADOWS}}
FOUND = {"ada": "passed", "bob": "failed", "cem": "failed", "dot": "crashed", "eva": "todo", "fay": "failed"}
FOUND |= {"gus": "passed", "hal": "failed"}


@pytest.fixture(scope="module")
def graded(clone, tmp_path_factory):
    """A class's work, with what is handed back."""
    folder = tmp_path_factory.mktemp("class")
    for student, texts in CLASS.items():
        write(folder / "in" / student / "e01_tensors/next_word", texts)
    line = ["grade", folder / "in", "--out", folder / "out", "--sandbox", "off"]
    code, lines = clone.kata(*map(str, line))
    assert code == 0, lines
    return folder


def test_the_audit_finds_nothing(clone):
    assert clone.kata("audit") == (0, ["audit: 1 exercises, no problems"])
    assert clone.kata("audit", "--redundant")[0] == 0


def test_a_class_is_graded(graded):
    assert statuses(graded / "out") == FOUND


def test_feedback_names_the_file_in_the_folder(graded):
    record = json.loads((graded / "out/fay.json").read_text())
    (check,) = (c for c in record["exercises"]["next_word"]["checks"] if c["id"] == "hidden::test_values")
    assert "exercises/e01_tensors/next_word/model.py:15   row = row.nothing" in check["message"]


def test_scores_are_handed_back(clone, graded):
    for line in (
        ["report", "--results", graded / "out", "--to", graded / "report"],
        ["export", "--results", graded / "out", "--format", "csv", "--to", graded / "grades.csv"],
    ):
        code, lines = clone.kata(*map(str, line))
        assert code == 0, lines
    assert "model.py:15" in next((graded / "report").rglob("fay*.html")).read_text()
    scores = dict(line.split(",")[:2] for line in (graded / "grades.csv").read_text().splitlines()[1:])
    assert float(scores["ada"]) == 4 and float(scores["bob"]) < 4


@pytest.mark.sandbox
def test_in_the_sandbox_data_is_for_reading_and_no_suite_is_there(clone, confines, tmp_path):
    data, tests = (str(clone.root / name) for name in ("exercises/e01_tensors/next_word/data", "tests"))
    asking = READ_ONLY.format(data=data) + NO_SUITE.format(tests=tests)
    for student, texts in {**CLASS, "gus": {**RIGHT, "__init__.py": asking}}.items():
        write(tmp_path / "in" / student / "next_word", texts)
    code, lines = clone.kata("grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"))
    assert code == 0, lines
    assert statuses(tmp_path / "out") == {**FOUND, "gus": "passed"}


def test_another_verdict_is_asked_for_where_data_or_shared_fixtures_change(clone, graded):
    def judged() -> int:
        line = ["grade", graded / "in", "--out", graded / "again", "--sandbox", "off", "--seed", "1"]
        assert clone.kata(*map(str, line))[0] == 0
        return len(list((graded / "again/.judged").glob("*.json")))

    shared = clone.root / "tests/hidden/e01_tensors/conftest.py"
    first = judged()
    for file in (clone.root / "exercises/e01_tensors/next_word/data/more.txt", shared):
        before = file.read_text() if file.exists() else None
        file.write_text((before or "") + "\n")
        assert judged() > first
        file.unlink() if before is None else file.write_text(before)
    assert judged() > first


def test_one_answer_may_be_judged_by_pytest(clone, graded):
    command = [sys.executable, "-m", "pytest", "-q", "--answers"]
    for student, passed in {"ada": "3 passed", "bob": "1 failed, 2 passed"}.items():
        place = graded / "in" / student / "e01_tensors/next_word"
        done = subprocess.run([*command, place], cwd=clone.root, capture_output=True, text=True, check=False)
        assert passed in done.stdout


def test_a_release_holds_the_folder_and_its_data(clone, tmp_path):
    for name in ("README.md", "Makefile"):
        (clone.root / name).write_text("# torchkata\n\n## Start\n\n.PHONY: learn\n")
    code, lines = clone.kata("release", str(tmp_path / "given"))
    assert code == 0, lines
    folder = tmp_path / "given/exercises/e01_tensors/next_word"
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()} == {
        *START,
        "data/corpus.txt",
    }
    assert not list((tmp_path / "given").rglob("tests/hidden"))


def test_the_start_is_put_back_and_the_answer_kept(tmp_path):
    clone = Clone(tmp_path)
    stem = add_project(clone)
    clone.commit()
    folder = clone.root / "exercises/e01_tensors" / stem
    write(folder, {**RIGHT, "extra.py": "x = 1\n"})
    code, lines = clone.kata("reset", "next_word", "--yes")
    assert code == 0 and f"{stem} is back at its start; your version" in lines[0]
    (kept,) = (clone.root / ".kata/backups").iterdir()
    assert (kept / "model.py").read_text() == RIGHT["model.py"]
    assert {file.name for file in folder.iterdir()} == {*START, "data"}
    assert (folder / "model.py").read_text() == START["model.py"]


def test_the_solution_is_shown_file_by_file(clone):
    for _ in range(3):
        clone.kata("hint", "next_word")
    code, lines = clone.kata("solution", "next_word", "--reveal")
    assert code == 0
    assert " # corpus.py" in lines and "+        return row / row.sum()" in lines


def test_a_notebook_says_where_such_an_answer_is_written(clone):
    code = "import grader; grader.check('next_word')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=clone.root, capture_output=True, text=True, check=False
    )
    told = "the answer to next_word is a folder: write it in exercises/e01_tensors/next_word"
    assert told in done.stderr


def test_a_new_one_works_and_once_it_is_written_the_audit_finds_nothing(tmp_path):
    clone = Clone(tmp_path)
    clone.add("double")
    code, lines = clone.kata("new", "e01", "small_lm", "--kind", "project")
    assert code == 0, lines
    _, told = clone.kata("audit", "--only", "small_lm")
    assert len(told) > 10 and all("to do in " in line or line.startswith("audit:") for line in told)
    for file in clone.root.rglob("*small_lm*"):
        for part in file.rglob("*.py") if file.is_dir() else [file]:
            part.write_text(part.read_text().replace("TODO: ", ""))
    row = clone.catalog.read_text().replace("concepts = []", 'concepts = ["mul"]')
    row = row.replace("hints = []", 'hints = ["Multiply."]').replace(
        'reading = ""', 'reading = "https://x.org"'
    )
    clone.catalog.write_text(row)
    code, told = clone.kata("audit", "--write-starts", "--only", "small_lm")
    assert (code, told[-1]) == (0, "audit: 1 exercises, no problems")


def test_a_step_is_one_file(clone):
    assert clone.kata("new", "e01", "small_step", "--kind", "project", "--step") == (
        2,
        ["kata: a first step is one file; leave out --step, or --kind project"],
    )


WITHOUT_FORK = """
import os, sys, sysconfig
from grader.cli import main

sysconfig.get_config_vars()
sys.platform = "darwin"
del os.fork
main()
"""


def test_without_fork_the_verdicts_are_the_same(clone, graded):
    line = ["grade", graded / "in", "--out", graded / "fresh", "--sandbox", "off"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FORK, *line],
        cwd=clone.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert statuses(graded / "fresh") == FOUND


def test_what_is_still_to_write_is_named(clone, tmp_path):
    write(tmp_path / "next_word", {**START, "corpus.py": RIGHT["corpus.py"]})
    command = [sys.executable, "-m", "pytest", "-q", "--answers", tmp_path / "next_word"]
    done = subprocess.run(command, cwd=clone.root, capture_output=True, text=True, check=False)
    assert "1 passed, 2 todo" in done.stdout
    assert "Bigrams.__init__" in done.stdout


def test_notebooks_leave_it_out_and_say_so(tmp_path):
    clone = Clone(tmp_path / "clone")
    clone.add("double")
    add_project(clone)
    code, lines = clone.kata("notebooks", str(tmp_path / "course"))
    assert code == 0
    assert "left out, as answers are folders: next_word; hand these out by `kata release`" in lines
