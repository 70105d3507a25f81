"""Judge answers where there is no fork: a fresh pytest process for each, with the findings of the engine.

This module is both ends: the parent's `Fresh`, which has the face of `grader.engine.pool.Pool`, and the
pytest plugin that writes the findings in the process it starts.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from grader.course import paths
from grader.course.catalog import Exercise
from grader.protocol.messages import Expected, Findings, Request
from grader.sandbox.bubblewrap import NO_GPU

START = 60.0
"""Seconds granted for starting Python and importing torch, beyond an exercise's own."""

_FINDINGS = "KATA_FINDINGS"
_JUDGED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


class Fresh:
    """Judges answers in processes of their own; its inventory grows with what was judged."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self.inventory: dict[str, list[Expected]] = {}

    def __enter__(self) -> "Fresh":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is kept open."""

    def judge_one(self, request: Request) -> Findings:
        """Judge one answer in a new process, and learn which checks it was to pass."""
        exercise = request.exercise
        with tempfile.TemporaryDirectory(prefix="kata-") as folder:
            # The same path as in the clone: it is what feedback shows.
            file = Path(folder) / "exercises" / exercise.relative
            file.parent.mkdir(parents=True)
            file.write_bytes(request.answer)
            findings = Path(folder) / "findings.jsonl"
            ended = _run(request, Path(folder), findings)
            text = findings.read_text("utf-8") if findings.exists() else ""
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            if "expected" in line:
                self.inventory[exercise.slug] = [Expected(**check) for check in line["expected"]]
        # An answer that ends the process does so before the last line is written.
        is_fault = ended not in (None, *_JUDGED) and any("done" in line for line in lines)
        lost = f"pytest ended with status {ended}" if is_fault else ""
        return Findings(tuple(lines), timed_out=ended is None, exit=ended or 0, lost=lost)


def _run(request: Request, folder: Path, findings: Path) -> int | None:
    """The exit status of a pytest process that judges the answer in `folder`; None if it took too long."""
    exercise = request.exercise
    suites = [str(exercise.file(t)) for t in ("public", "hidden") if exercise.file(t).exists()]
    argv = [
        "-p",
        "grader.plugin.subprocess_run",
        "-c",
        str(paths.ROOT / "pyproject.toml"),
        f"--rootdir={paths.ROOT}",
    ]
    argv += [f"--answers={folder / 'exercises'}", f"--seed={request.seed}", *suites]
    places = [str(paths.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(places),
        "PYTHONBREAKPOINT": "grader.plugin.subprocess_run.no_debugger",
        _FINDINGS: str(findings),
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
        "breakpoint() was reached, and nobody is here to debug\n"
        "  likely  debug with `pytest -s -k` and the exercise's name, or take it out"
    )


def _tell(**finding: Any) -> None:
    if _FINDINGS in os.environ:
        with Path(os.environ[_FINDINGS]).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(finding) + "\n")


def _id(path: str, name: str) -> str:
    return f"{Path(path).parent.parent.name}::{name}"


def pytest_collection_finish(session: pytest.Session) -> None:
    from grader.plugin.failure_report import title_of
    from grader.plugin.markers import is_fine, lacking

    checks = [
        {
            "id": _id(str(item.path), item.name),
            "title": title_of(item),
            "lacks": lacking(item),
            "fine": is_fine(item),
        }
        for item in session.items
    ]
    _tell(expected=checks)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown" or (report.when == "setup" and report.passed):
        return
    verdict = getattr(report, "kata", None)
    late = getattr(report, "timed_out", False)
    outcome = verdict if verdict in ("todo", "not_graded") else "timeout" if late else report.outcome
    path, _, name = report.nodeid.partition("::")
    message = str(report.longrepr) if outcome in ("failed", "timeout") else ""
    _tell(
        check=_id(path, name),
        outcome=outcome,
        message=message,
        rule=getattr(report, "is_rule", False),
        unwritten=getattr(report, "unwritten", ""),
        printed=report.capstdout[:4000],
    )


def pytest_sessionfinish() -> None:
    _tell(done=True)
