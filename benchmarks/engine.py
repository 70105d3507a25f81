"""The engine against one fresh pytest process per submission, side by side.

    python benchmarks/engine.py [--submissions 30] [--section e01_tensors] [--jobs 2]

Makes different full submissions of a section from its specimens, grades them with a fresh `pytest`
process for each, and with the engine before and after that, on the same suites: where the machine's
speed changes meanwhile, both see it. One submission goes through both beforehand and does not count, so
that neither is the first to read torch from the disk. Prints the times (the engine's is the mean of its
two), their ratio, and what the engine adds to the time of the checks themselves for each answer: with its
start, which a class of any size pays once, and without, by what one submission alone takes.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.course import paths, specimens
from grader.course.catalog import load


def make_class(folder: Path, section: str, count: int) -> None:
    """`count` submissions in which no file is like any other's; steps are left out."""
    draw = random.Random(0)
    exercises = [e for e in load().select([section]) if not e.is_step]
    for number in range(count):
        for exercise in exercises:
            solution = exercise.file("solutions").read_text("utf-8")
            sources = [solution] + [s.source(solution) for s in specimens.read(exercise.file("specimens"))]
            target = folder / f"student{number:03d}" / exercise.relative
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(f"{draw.choice(sources)}\n# student {number}\n", "utf-8")


def with_engine(folder: Path, section: str, jobs: int, out: Path) -> float:
    command = [sys.executable, "-m", "grader", "grade", str(folder), "--only", section]
    started = time.perf_counter()
    command += ["--jobs", str(jobs), "--out", str(out)]
    subprocess.run(command, cwd=paths.ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def with_fresh_processes(folder: Path, section: str) -> float:
    suites = [f"tests/public/{section}", f"tests/hidden/{section}", f"--ignore=tests/public/{section}/steps"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    started = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", *suites, "--answers"]
    for submission in sorted(folder.iterdir()):
        subprocess.run(
            [*command, str(submission)],
            cwd=paths.ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=False,
        )
    return time.perf_counter() - started


def seconds_in_checks(out: Path) -> tuple[float, int]:
    """The time that the checks themselves took, and how many answers were judged."""
    total, answers = 0.0, 0
    for file in out.glob("*/*.json"):
        for exercise in json.loads(file.read_text())["exercises"].values():
            total += sum(check["seconds"] for check in exercise["checks"])
            answers += 1
    return total, answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=30)
    parser.add_argument("--section", default="e01_tensors")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, out = Path(scratch, "class"), Path(scratch, "results")
        make_class(folder, options.section, options.submissions)
        once = Path(scratch, "once")
        make_class(once, options.section, 1)
        with_engine(once, options.section, options.jobs, Path(scratch, "forgotten"))
        with_fresh_processes(once, options.section)
        alone = with_engine(once, options.section, options.jobs, Path(scratch, "first", "alone"))
        before = with_engine(folder, options.section, options.jobs, out / "before")
        fresh = with_fresh_processes(folder, options.section)
        after = with_engine(folder, options.section, options.jobs, out / "after")
        warm = (before + after) / 2
        checks, answers = (total / 2 for total in seconds_in_checks(out))
        first, started = seconds_in_checks(Path(scratch, "first"))
    added = warm * options.jobs - checks
    more = (warm - alone) * options.jobs - (checks - first)
    print(f"{options.submissions} different submissions of {options.section}, {answers:.0f} answers")
    print(f"engine, {options.jobs} jobs       {warm:8.1f} s  ({before:.1f} before, {after:.1f} after)")
    print(f"one submission alone   {alone:8.1f} s")
    print(f"fresh pytest processes {fresh:8.1f} s")
    print(f"ratio                  {fresh / warm:8.1f}")
    print(f"checks themselves      {checks:8.1f} s")
    print(f"added per answer       {1000 * more / (answers - started):8.1f} ms of processor time")
    print(f"  starting included    {1000 * added / answers:8.1f} ms")


if __name__ == "__main__":
    main()
