"""The sample assignment, judged by this engine and by a fresh pytest process for each submission.

Both get the same submissions, in which no two files of answers are alike, and the same tests; pytest finds
them laid over each submission, which is not timed. Beside the times it is told what each says of every
hand-in of the sample, also of those that hang, leave or cheat.
"""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from contest import ROOT, ROUNDS, Spent, run, show

SAMPLE = ROOT / "samples" / "assignment1"
TESTS = SAMPLE / "handout" / "tests"
ADAPTER = Path("tests", "adapters.py")
ORDINARY = ("alma", "carl", "dina", "egon")
"""Hand-ins that plain pytest judges to the end."""
PATIENCE = 30
"""Seconds that plain pytest has for one submission."""


def compare(scratch: Path, count: int, baseline: int, jobs: int) -> None:
    """Grade `count` ordinary submissions by the engine, and `baseline` of them by pytest."""
    students = _make(scratch / "class", count)
    laid = [_laid_over(student, scratch / "laid" / student.name) for student in students[:baseline]]
    engine, pytest = Spent(), Spent()
    for number in range(ROUNDS):
        with engine.on(count):
            _with_engine(scratch / "class", scratch / f"results{number}", jobs)
        third = laid[number::ROUNDS]
        with pytest.on(len(third)):
            for folder in third:
                _with_pytest(folder)
        print(f"  round {number + 1} of {ROUNDS} done", file=sys.stderr)
    print(f"{count} different submissions of an assignment's own tests; start-up included\n")
    show([(f"this engine, {jobs} at a time, confined", engine), ("a pytest process for each", pytest)])
    _tell_of_all(scratch / "all", jobs)


def _make(folder: Path, count: int) -> list[Path]:
    students = []
    for number in range(count):
        student = folder / f"student{number:04d}"
        shutil.copytree(SAMPLE / "submissions" / ORDINARY[number % len(ORDINARY)], student)
        for file in student.rglob("*.py"):
            file.write_text(f"{file.read_text('utf-8')}\n# student {number}\n", "utf-8")
        students.append(student)
    return students


def _laid_over(student: Path, folder: Path) -> Path:
    """The student's files under the assignment's tests, with the student's adapter."""
    shutil.copytree(student, folder)
    shutil.copytree(TESTS, folder / "tests", dirs_exist_ok=True)
    (folder / ADAPTER).unlink()
    if (student / ADAPTER).exists():
        shutil.copyfile(student / ADAPTER, folder / ADAPTER)
    return folder


def _with_engine(work: Path, out: Path, jobs: int) -> None:
    suite = [TESTS, work, "--adapter", TESTS / ADAPTER.name]
    run(["-m", "grader", "grade-suite", *suite, "--jobs", str(jobs), "--out", out])


def _with_pytest(folder: Path) -> str:
    """What pytest says: how many tests have passed, or how it ended."""
    told = folder / "told.xml"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "tests", f"--junitxml={told}"],
            cwd=folder,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"stopped after {PATIENCE} s"
    if not told.exists():
        return f"no results, exit status {done.returncode}"
    cases = list(ElementTree.parse(told).getroot().iter("testcase"))
    return str(sum(not list(case) for case in cases))


def _tell_of_all(scratch: Path, jobs: int) -> None:
    """What each says of the sample's hand-ins."""
    _with_engine(SAMPLE / "submissions", scratch / "results", jobs)
    print("\ntests that pass                             engine   pytest")
    for student in sorted((SAMPLE / "submissions").iterdir()):
        tops = [file.parent.parent for file in student.rglob("adapters.py")]
        plain = _with_pytest(_laid_over(tops[0] if tops else student, scratch / student.name))
        print(f"{student.name:42}  {_passed(scratch / 'results' / f'{student.name}.json'):>6}   {plain}")


def _passed(file: Path) -> int:
    exercises = json.loads(file.read_text("utf-8"))["exercises"].values()
    return sum(check["outcome"] == "passed" for exercise in exercises for check in exercise["checks"])
