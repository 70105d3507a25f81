"""Judge answers where there is no fork: a fresh pytest process for each, which tells what the engine tells.

This module is both ends: the parent's `Fresh`, which has the face of `grader.engine.pool.Pool`, and the
pytest plugin that tells of each check in the process it starts.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from grader.core.sanitize import MOST_CHARACTERS
from grader.course import paths, sources
from grader.course.exercise import Exercise
from grader.plugin.load_answer import put
from grader.protocol import transcript
from grader.protocol.check import CheckSpec
from grader.protocol.job import Job
from grader.protocol.lines import parsed
from grader.protocol.transcript import GARBLED, Ended, Transcript
from grader.sandbox.bubblewrap import NO_GPU

START = 60.0
"""Seconds granted for starting Python and importing torch, beyond an exercise's own."""

_TOLD = "KATA_TOLD"
_JUDGED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


class Fresh:
    """Judges answers in processes of their own; its inventory grows with what was judged.

    `oracle` names the plugin that asks the oracle there.
    """

    def __init__(self, exercises: Sequence[Exercise], oracle: str = "") -> None:
        self.inventory: dict[str, list[CheckSpec]] = {}
        self._oracle = oracle

    def __enter__(self) -> "Fresh":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is kept open."""

    def judge(self, asked: Iterable[Job]) -> Iterator[tuple[Job, Transcript]]:
        """Judge the answers, one after the other."""
        return ((job, self.judge_one(job)) for job in asked)

    def reference(self, job: Job) -> Transcript:
        """Judge a reference solution: no process here sees two answers."""
        return self.judge_one(job)

    def judge_one(self, job: Job) -> Transcript:
        """Judge one answer in a new process, and learn which checks it was to pass."""
        exercise = job.exercise
        with tempfile.TemporaryDirectory(prefix="kata-") as folder:
            # The same path as in the clone: it is what feedback shows.
            put(job.answer, exercise, Path(folder) / "exercises")
            told = Path(folder) / "told.jsonl"
            plugins = [self._oracle] if self._oracle and job.examined else []
            status = _run(job, Path(folder), told, *plugins)
            lines = [line if isinstance(line, dict) else GARBLED for line in read_lines(told, parsed)]
        for line in lines:
            if "inventory" in line:
                self.inventory[exercise.slug] = [CheckSpec(**check) for check in line["inventory"]]
        # An answer that ends the process does so before the last line is written.
        if status is None or not any("done" in line for line in lines):
            return transcript.read(lines, Ended(timed_out=status is None, exit=status or 0))
        lost = "" if status in _JUDGED else f"pytest ended with status {status}"
        return transcript.read(lines, Ended(lost=lost))


def _run(job: Job, folder: Path, told: Path, *plugins: str) -> int | None:
    """The exit status of a pytest process that judges the answer in `folder`; None if it took too long."""
    exercise = job.exercise
    suites = [str(exercise.file(t)) for t in exercise.suites if exercise.file(t).exists()]
    argv = [
        "-p",
        "grader.plugin.subprocess_run",
        "-c",
        str(exercise.root / "pyproject.toml"),
        f"--rootdir={exercise.root}",
    ]
    argv += [part for plugin in plugins for part in ("-p", plugin)]
    argv += [f"--answers={folder / 'exercises'}", f"--seed={job.seed}", *suites]
    places = filter(None, [paths.PYTHONPATH, os.environ.get("PYTHONPATH")])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(places),
        **sources.environment(),
        "PYTHONBREAKPOINT": "grader.plugin.subprocess_run.no_debugger",
        _TOLD: str(told),
        **NO_GPU,
    }
    return run_quietly(argv, environment, exercise.seconds + START, folder)


def run_quietly(
    argv: Sequence[str], environment: Mapping[str, str], seconds: float, folder: Path | None = None
) -> int | None:
    """The exit status of a pytest process with these arguments; None if it took too long."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *argv],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def no_debugger(*_arguments: Any, **_options: Any) -> None:
    """What `breakpoint()` does where nobody can answer a debugger."""
    from grader.checks import CheckFailure

    raise CheckFailure(
        "breakpoint() was reached, and nobody is here to debug",
        likely="debug with `pytest -s -k` and the exercise's name, or take it out",
    )


def write_line(file: Path, told: Mapping[str, Any]) -> None:
    """Add a line of JSON, which is there whatever ends the process next."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(told) + "\n")


def read_lines(file: Path, read: Callable[[str], Any] = json.loads) -> list[Any]:
    """What `write_line` has written; not the line that it was ended in."""
    text = file.read_text("utf-8") if file.exists() else ""
    return [read(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def tell(**finding: Any) -> None:
    """A line for whoever has started this process to judge an answer."""
    if _TOLD in os.environ:
        write_line(Path(os.environ[_TOLD]), finding)


def pytest_collection_finish(session: pytest.Session) -> None:
    from grader.plugin.markers import spec_of

    tell(inventory=[asdict(spec_of(item)) for item in session.items])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    from grader.plugin.markers import check_id
    from grader.plugin.reports import check_of

    check = check_of(report)
    if check is None or report.when == "teardown" or (report.when == "setup" and report.passed):
        return
    path, _, name = report.nodeid.partition("::")
    finding = replace(check.finding, printed=report.capstdout[:MOST_CHARACTERS])
    tell(check=check_id(Path(path), name), **finding.to_json())


def pytest_sessionfinish() -> None:
    tell(done=True)
