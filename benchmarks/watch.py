"""From a file to its verdict: `kata watch` and a cold `pytest -k`, side by side with a bare `import torch`.

    python benchmarks/watch.py [--slug merge_heads] [--rounds 20] [--only watch|pytest]

Runs `kata watch` in a copy of the clone, saves right and wrong answers in turn, and takes the time until
the verdict is printed. `pytest -k merge_heads` there, with the plugins that a learner has, should take at
most 1.6 times as long as `import torch`; with the two files named it is no faster.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import Exercise

PARTS = (
    "conftest.py",
    "pyproject.toml",
    "exercises",
    "solutions",
    "grader",
    "tests/__init__.py",
    "tests/public",
)


def copy_clone(target: Path) -> None:
    for part in (*PARTS, "tests/hidden"):
        source, copy = paths.ROOT / part, target / part
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)


LAST = "no single keys can be read here"
"""What `kata watch` says last each time, where it has no terminal."""


def watch(clone: Path, exercise: Exercise, rounds: int) -> list[float]:
    """Seconds from each save to its verdict."""
    solution = exercise.file("solutions").read_text("utf-8")
    stub = exercise.file("exercises").read_text("utf-8")
    file = clone / exercise.file("exercises").relative_to(paths.ROOT)
    command = [sys.executable, "-u", "-m", "grader", "watch"]
    with subprocess.Popen(
        command,
        cwd=clone,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    ) as process:
        assert process.stdout is not None
        _read_until(process.stdout, LAST)
        seconds = []
        for number in range(rounds):
            right = number % 2 == 0
            started = time.perf_counter()
            file.write_text(f"{solution if right else stub}\n# {number}\n", "utf-8")
            _read_until(process.stdout, f"✓ {exercise.slug}" if right else f"✗ {exercise.slug}")
            seconds.append(time.perf_counter() - started)
            _read_until(process.stdout, LAST)
        process.terminate()
    return seconds


def _read_until(stream: object, words: str) -> None:
    for line in stream:  # type: ignore[attr-defined]
        if words in line:
            return
    raise SystemExit(f"kata watch ended before it showed {words!r}")


TORCH = "import torch"
AUTHORS = ("hypothesispytest", "randomly", "rerunfailures", "xdist")
"""Plugins that come with `.[dev]` alone; one of them takes a second."""


def cold(clone: Path, exercise: Exercise, rounds: int) -> dict[str, float]:
    """Seconds that fresh processes take, in turn: their median."""
    pytest = ["-m", "pytest", "-q", *(f"-pno:{name}" for name in AUTHORS)]
    suites = [str(exercise.file(tree).relative_to(paths.ROOT)) for tree in ("public", "hidden")]
    commands = {
        TORCH: ["-c", TORCH],
        f"pytest -k {exercise.slug}": [*pytest, "-k", exercise.slug],
        "pytest, two files": [*pytest, *suites],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, arguments in commands.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], cwd=clone, stdout=subprocess.DEVNULL, check=False)
            if number:  # the first of each writes what Python compiles
                seconds[name].append(time.perf_counter() - started)
    return {name: statistics.median(found) for name, found in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slug", default="merge_heads")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", choices=("watch", "pytest"))
    options = parser.parse_args()
    exercise = load().exercise(options.slug)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder)
        copy_clone(clone)
        if options.only != "watch":
            for name, seconds in (found := cold(clone, exercise, min(options.rounds, 7))).items():
                print(f"{name:<28} {1000 * seconds:8.0f} ms  {seconds / found[TORCH]:6.2f} of {TORCH}")
        if options.only != "pytest":
            verdicts = watch(clone, exercise, options.rounds)
            median, most = statistics.median(verdicts), max(verdicts)
            print(f"{'kata watch, save to verdict':<28} {1000 * median:8.0f} ms  (slowest {1000 * most:.0f})")


if __name__ == "__main__":
    main()
