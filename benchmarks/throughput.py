"""A class graded by this engine, by a pytest process per submission, and by nbgrader, side by side.

    python benchmarks/throughput.py [--submissions 30] [--baseline 6] [--sizes 10,100,1000] [--suite]

All judge the same submissions of one section by the same checks, on this machine and in turn: in each
of three rounds the engine grades the whole class anew, and then the others grade the next third of the
first `--baseline` submissions. nbgrader's own autograder runs them as notebooks, in two ways: with test
cells that call the checks in the kernel, as cheaply as can be, and with the cells of `kata notebooks`,
which start an engine in each kernel. Then one exercise is graded for classes of growing size, in which no
two files are alike.

With `--suite` nothing of this, but the sample assignment, whose tests know nothing of torchkata: graded by
the engine, and by a pytest process for each submission (`assignment.py`).

Wall-clock times depend on what else the machine does, so that its load is told too.
"""

import argparse
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import assignment
from contest import ROUNDS, Spent, run, show, warn_of_load
from engine import make_class

from grader.classroom.nbgrader import source_notebooks
from grader.classroom.nbgrader.gradebook import answer_cell
from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import Exercise

GROWN = "merge_heads"

CONFIG = """c = get_config()
c.Execute.timeout = 300
"""
PREPARE = f"""import sys
sys.path[:0] = [{str(paths.ROOT)!r}, {str(Path(__file__).parent)!r}]
import in_kernel
in_kernel.prepare()
"""


def with_engine(work: Path, only: str, jobs: int, out: Path) -> None:
    run(["-m", "grader", "grade", work, "--only", only, "--jobs", str(jobs), "--out", out])


def with_pytest(submission: Path, section: str) -> None:
    suites = [f"tests/public/{section}", f"tests/hidden/{section}", f"--ignore=tests/public/{section}/steps"]
    command = ["-m", "pytest", "-q", "-p", "no:randomly", *suites, "--answers", submission]
    run(command, may_fail=True, PYTHONDONTWRITEBYTECODE="")


class Nbgrader:
    """A course of nbgrader's own, in which every student has handed in a notebook."""

    def __init__(self, folder: Path, section: str, submissions: Sequence[Path], *, plain: bool) -> None:
        self.folder = folder
        self.plain = plain
        self.section = load().section(load().select([section])[0]).assignments[-1]  # without its steps
        self.submissions = list(submissions)
        self._home = {
            "HOME": str(folder),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }

    def make(self) -> None:
        self.folder.mkdir()
        (self.folder / "nbgrader_config.py").write_text(CONFIG)
        self._write(self.folder / "source", {})
        run(["-m", "nbgrader", "generate_assignment", self.section.name], self.folder, **self._home)
        for submission in self.submissions:
            texts = {e.slug: (submission / e.relative).read_text("utf-8") for e in self.section.exercises}
            self._write(self.folder / "submitted" / submission.name, texts)

    def _write(self, folder: Path, texts: dict[str, str]) -> None:
        notebook = source_notebooks.notebook(self.section, self.section.exercises)
        for exercise in self.section.exercises:
            if self.plain:
                checks = _cell(notebook, exercise.slug)
                checks["source"] = f'import in_kernel\n\nin_kernel.run("{exercise.slug}")'
            if exercise.slug in texts:
                _cell(notebook, answer_cell(exercise.slug))["source"] = texts[exercise.slug]
        prepare = {
            "cell_type": "code",
            "execution_count": None,
            "id": "prepare",
            "metadata": {},
            "outputs": [],
        }
        notebook["cells"].insert(1, {**prepare, "source": PREPARE})
        file = folder / self.section.name / f"{self.section.name}.ipynb"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(notebook), "utf-8")

    def autograde(self, students: str) -> None:
        command = ["-m", "nbgrader", "autograde", self.section.name, "--student", students]
        run(command, self.folder, may_fail=True, **self._home)

    def passed(self) -> set[tuple[str, str]]:
        """Who has earned all points of which exercise."""
        question = """
            SELECT submitted_assignment.student_id, base_cell.name FROM grade
            JOIN base_cell ON base_cell.id = grade.cell_id
            JOIN grade_cells ON grade_cells.id = grade.cell_id
            JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
            JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
            WHERE grade.auto_score >= grade_cells.max_score"""
        with sqlite3.connect(self.folder / "gradebook.db") as database:
            return set(database.execute(question))


def _cell(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    cells: list[dict[str, Any]] = notebook["cells"]
    return next(c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def compare(scratch: Path, section: str, count: int, baseline: int, jobs: int) -> None:
    work = scratch / "class"
    make_class(work, section, count)
    students = sorted(work.iterdir())
    thirds = [students[i:baseline:ROUNDS] for i in range(ROUNDS)]
    for number, third in enumerate(thirds):  # so that one pattern names them
        for place, student in enumerate(third):
            third[place] = student.rename(student.with_name(f"round{number}_{student.name}"))
    chosen = [student for third in thirds for student in third]
    courses = [Nbgrader(scratch / f"plain{plain}", section, chosen, plain=plain) for plain in (True, False)]
    for one in courses:
        one.make()
    engine, pytest, plain, generated = (Spent() for _ in range(4))
    for number, third in enumerate(thirds):
        with engine.on(count):
            with_engine(work, section, jobs, scratch / f"results{number}")
        if not third:
            continue
        with pytest.on(len(third)):
            for student in third:
                with_pytest(student, section)
        for spent, one in zip((plain, generated), courses, strict=True):
            with spent.on(len(third)):
                one.autograde(f"round{number}_*")
        print(f"  round {number + 1} of {ROUNDS} done", file=sys.stderr)
    exercises = [e for e in load().select([section]) if not e.is_step]
    print(f"{count} different submissions of {section}, {len(exercises)} answers each; start-up included\n")
    show(
        [
            (f"this engine, {jobs} at a time, confined", engine),
            ("a pytest process for each", pytest),
            ("nbgrader autograde, checks in the kernel", plain),
            ("nbgrader autograde, kata notebooks", generated),
        ]
    )
    full = _full_marks(scratch / "results0", {student.name for student in chosen})
    print(f"\nfull marks for {len(full)} of {len(chosen) * len(exercises)} answers", end="")
    for one in courses:
        earned = one.passed()
        print(f"; for {len(earned)} by nbgrader, {len(earned & full)} of them the same", end="")
    print()


def _full_marks(out: Path, students: set[str]) -> set[tuple[str, str]]:
    found = set()
    for student in students:
        record = json.loads((out / f"{student}.json").read_text())
        found |= {(student, slug) for slug, e in record["exercises"].items() if e["score"] == e["points"]}
    return found


def grow(scratch: Path, sizes: Sequence[int], jobs: int) -> None:
    """What an answer costs as the class grows."""
    exercise = load().exercise(GROWN)
    print(f"\none answer of {GROWN} in a class of      s in all   ms each   ms for each further one")
    before = None
    for size in sizes:
        work = scratch / f"grown{size}"
        make_alike(work, exercise, size)
        spent = Spent()
        with spent.on(size):
            with_engine(work, GROWN, jobs, scratch / f"grown{size}.out")
        further = "" if before is None else f"{1000 * (spent.seconds - before[1]) / (size - before[0]):10.1f}"
        print(f"{size:40}  {spent.seconds:11.1f}  {1000 * spent.each:8.1f}   {further}")
        before = size, spent.seconds
        shutil.rmtree(work)


def make_alike(work: Path, exercise: Exercise, count: int) -> None:
    solution = exercise.file("solutions").read_text("utf-8")
    for number in range(count):
        file = work / f"student{number:05d}" / exercise.relative
        file.parent.mkdir(parents=True)
        file.write_text(f"{solution}\n# student {number}\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--submissions", type=int, default=30, help="in the class that the engine grades; 0: do not compare"
    )
    parser.add_argument("--baseline", type=int, default=6, help="how many of them the others grade")
    parser.add_argument("--section", default="e01_tensors")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="answers at a time")
    parser.add_argument("--sizes", default="10,100,1000", help="classes for the cost of an answer; or none")
    parser.add_argument("--suite", action="store_true", help="the sample assignment instead of a section")
    options = parser.parse_args()
    warn_of_load()
    with tempfile.TemporaryDirectory() as scratch:
        if options.suite:
            assignment.compare(Path(scratch), options.submissions, options.baseline, options.jobs)
            return
        if options.submissions:
            baseline = min(options.baseline, options.submissions)
            compare(Path(scratch), options.section, options.submissions, baseline, options.jobs)
        if options.sizes != "none":
            grow(Path(scratch), [int(size) for size in options.sizes.split(",")], options.jobs)


if __name__ == "__main__":
    main()
