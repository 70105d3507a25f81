"""The bundle for Gradescope, in a tree like Gradescope's."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from grader.course import paths
from grader.course.catalog import load
from tests.grader.classroom.export.test_platforms import CASE, SUBMISSION, check

FOLDER = paths.ROOT / "integrations" / "gradescope"
EXERCISE = load().exercise("merge_heads")


def make(*arguments: str, cwd: Path = paths.ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / "bundle.py"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def autograder(tmp_path_factory) -> Path:
    """Gradescope's tree, with the bundle unpacked where Gradescope puts it."""
    root = tmp_path_factory.mktemp("autograder")
    done = make("--only", "merge_heads", "--only", "describe", str(root / "bundle.zip"))
    assert done.returncode == 0, done.stderr
    assert "3 autograder points" in done.stdout
    return unpacked(root)


def unpacked(root: Path) -> Path:
    with zipfile.ZipFile(root / "bundle.zip") as archive:
        assert {"setup.sh", "run_autograder"} <= {*archive.namelist()}, "at the root, as specified"
        assert not [
            n for n in archive.namelist() if "tests/specimens" in n or "__pycache__" in n or ".git/" in n
        ]
        for info in archive.infolist():
            written = Path(archive.extract(info, root / "source"))
            written.chmod(info.external_attr >> 16 & 0o777)
    (root / "run_autograder").write_bytes((root / "source" / "run_autograder").read_bytes())
    (root / "run_autograder").chmod(0o755)
    (root / "results").mkdir()
    return root


def run(autograder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(autograder / "run_autograder")],
        cwd=autograder,
        env={**os.environ, "AUTOGRADER": str(autograder), "KATA_PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def submit(autograder: Path, name: str, content: bytes) -> None:
    submission = autograder / "submission"
    submission.mkdir(exist_ok=True)
    for file in submission.iterdir():
        file.unlink()
    (submission / name).write_bytes(content)


def test_a_submission_gets_its_results(autograder):
    submit(autograder, f"{EXERCISE.slug}.py", EXERCISE.file("solutions").read_bytes())
    done = run(autograder)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((autograder / "results" / "results.json").read_text("utf-8"))
    check(found, SUBMISSION)
    todo, case = found["tests"]
    check(case, CASE)
    assert todo["score"] == 0
    assert (found["score"], case["score"], case["max_score"], case["status"]) == (2, 2, 2, "passed")


COURSE = """
sources = ["torchkata"]
[assignment.week1]
exercises = ["merge_heads", "shares"]
points = { merge_heads = 5 }
"""


def test_an_assignment_takes_its_course_along(tmp_path):
    course = tmp_path / "course"
    course.mkdir()
    (course / "course.toml").write_text(COURSE.replace('"shares"', '"describe"'))
    command = [sys.executable, "-m", "grader", "new", "e90_mine", "shares"]
    environment = {**os.environ, "PYTHONPATH": str(paths.ROOT)}
    subprocess.run(command, cwd=course, env=environment, check=True, capture_output=True)
    (course / "course.toml").write_text(COURSE)
    root = tmp_path / "autograder"
    root.mkdir()
    done = make("--assignment", "week1", str(root / "bundle.zip"), cwd=course)
    assert done.returncode == 0, done.stderr
    assert "6 autograder points" in done.stdout
    autograder = unpacked(root)
    submit(autograder, f"{EXERCISE.slug}.py", EXERCISE.file("solutions").read_bytes())
    done = run(autograder)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((autograder / "results" / "results.json").read_text("utf-8"))
    cases = {case["extra_data"]["slug"]: case for case in found["tests"]}
    assert {slug: (case["score"], case["max_score"]) for slug, case in cases.items()} == {
        "merge_heads": (5, 5),
        "shares": (0, 1),
    }
    assert cases["merge_heads"]["tags"][0] == "week1"


def test_where_grading_fails_there_are_no_results(autograder):
    submit(autograder, "essay.docx", b"")
    (autograder / "results" / "results.json").write_text("{}")
    done = run(autograder, KATA_PYTHON="/bin/false")
    assert done.returncode != 0
    assert not (autograder / "results" / "results.json").exists()


def test_the_scripts_are_shell():
    for name in ("setup.sh", "run_autograder"):
        assert os.access(FOLDER / name, os.X_OK)
        subprocess.run(["bash", "-n", str(FOLDER / name)], check=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "no_such"], "no exercise is called"),
        (["--assignment", "week9"], "no assignment 'week9'"),
        (["--only", "e01", "--assignment", "week9"], "no assignment 'week9'"),
        (["/proc/no/x.zip"], "cannot write"),
    ],
)
def test_a_bundle_that_cannot_be_made_is_one_line(arguments, words):
    done = make(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
