"""From a saved file to its verdict, side by side with a cold pytest and a bare `import torch`.

    python benchmarks/watch.py [--slug merge_heads] [--rounds 20]

Runs `kata watch` in a copy of the clone, saves right and wrong answers in turn, and takes the time until
the verdict is printed.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader import paths
from grader.catalog import Exercise, load

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


def watch(clone: Path, exercise: Exercise, rounds: int) -> list[float]:
    """Seconds from each save to its verdict."""
    solution = exercise.file("solutions").read_text("utf-8")
    stub = exercise.file("exercises").read_text("utf-8")
    file = clone / exercise.file("exercises").relative_to(paths.ROOT)
    command = [sys.executable, "-u", "-m", "grader", "watch"]
    with subprocess.Popen(
        command, cwd=clone, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        _read_until(process.stdout, "[q]uit")
        seconds = []
        for number in range(rounds):
            right = number % 2 == 0
            started = time.perf_counter()
            file.write_text(f"{solution if right else stub}\n# {number}\n", "utf-8")
            _read_until(process.stdout, f"✓ {exercise.slug}" if right else f"✗ {exercise.slug}")
            seconds.append(time.perf_counter() - started)
            _read_until(process.stdout, "[q]uit")
        process.terminate()
    return seconds


def _read_until(stream: object, words: str) -> None:
    for line in stream:  # type: ignore[attr-defined]
        if words in line:
            return
    raise SystemExit(f"kata watch ended before it showed {words!r}")


def cold(arguments: list[str], cwd: Path, rounds: int = 3) -> float:
    """The median of a few runs of a fresh process."""
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], cwd=cwd, stdout=subprocess.DEVNULL, check=False)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slug", default="merge_heads")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    exercise = load().exercise(options.slug)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder)
        copy_clone(clone)
        verdicts = watch(clone, exercise, options.rounds)
        suites = [str(exercise.file(tree).relative_to(paths.ROOT)) for tree in ("public", "hidden")]
        pytest = cold(["-m", "pytest", "-q", "--answers", "solutions", *suites], clone)
        torch = cold(["-c", "import torch"], clone)
    verdict = statistics.median(verdicts)
    print(f"{exercise.slug}, {options.rounds} saves")
    print(f"kata watch, save to verdict   {1000 * verdict:8.0f} ms  (slowest {1000 * max(verdicts):.0f})")
    print(f"cold pytest                   {1000 * pytest:8.0f} ms  {pytest / verdict:6.1f} times as long")
    print(f"import torch                  {1000 * torch:8.0f} ms  {torch / verdict:6.1f} times as long")


if __name__ == "__main__":
    main()
