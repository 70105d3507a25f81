"""From what a test raised to the lines that a student reads: both sides of an assert, and where it was."""

import linecache
from pathlib import Path

import pytest

from grader.checks.error_words import error_line
from grader.core.sanitize import one_line
from grader.core.timeout import TooSlow
from grader.protocol.feedback import Fact, Feedback, Where
from grader.suite.court import Court

_ADVICE = "Use -v to get more diff"
"""Nobody can."""


class Places:
    """The files below `root`, the suite's and the student's."""

    def __init__(self, root: Path, court: Court) -> None:
        self._root = root
        self._suite = frozenset(court.files)
        self._seconds = court.seconds

    def feedback(self, excinfo: pytest.ExceptionInfo[BaseException], when: str) -> Feedback:
        """What is told of a test that failed."""
        error = excinfo.value
        where = self._where(excinfo)
        if isinstance(error, TooSlow):
            return Feedback(f"still running after {self._seconds:g} s: an endless loop?", where=where)
        if isinstance(error, AssertionError):
            return _of_assert(str(error), where)
        phase = "" if when == "call" else f" in the test's {when}"
        return Feedback(f"raised{phase} {error_line(error)}", where=where)

    def import_trouble(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Feedback:
        """Why the tests do not import."""
        error: BaseException = excinfo.value
        while isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
            error = error.__cause__
        late = "still importing after its time: an endless loop?"
        said = late if isinstance(error, TooSlow) else error_line(error)
        return unusable(said, self._where(pytest.ExceptionInfo.from_exception(error)))

    def is_todo(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """Whether the student's code says of itself that it is still to write."""
        if not isinstance(excinfo.value, NotImplementedError):
            return False
        last = excinfo.traceback[-1]
        path = self._inside(str(last.path))
        source = linecache.getline(str(last.path), last.lineno + 1)
        return path is not None and source.strip().startswith("raise NotImplementedError")

    def todo(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Feedback:
        """Where that is, and in which words."""
        said = one_line(str(excinfo.value))
        return Feedback(f"not written yet: {said}" if said else "not written yet", where=self._where(excinfo))

    def _where(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Where | None:
        """The innermost line of the student's, else the test's own."""
        lines = [
            (path, entry.lineno + 1)
            for entry in excinfo.traceback
            if (path := self._inside(entry.frame.code.raw.co_filename)) is not None
        ]
        own = [(path, line) for path, line in lines if path not in self._suite]
        if not (own or lines):
            return None
        path, line = own[-1] if own else lines[0]
        return Where(path, line, linecache.getline(str(self._root / path), line).strip())

    def _inside(self, file: str) -> str | None:
        path = Path(file)
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else None


def unusable(said: str, where: Where | None = None) -> Feedback:
    """Told where tests do not import, or their conftest."""
    return Feedback("the tests cannot be run with this code", (Fact("", said),), where=where)


def _of_assert(text: str, where: Where | None) -> Feedback:
    """The text of a rewritten assert: what was compared, then how the two sides differ."""
    lines = [line.strip() for line in text.splitlines()]
    first, *rest = [line for line in lines if line and line != _ADVICE] or ["the assert does not hold"]
    return Feedback(first, tuple(Fact("", line) for line in rest), where=where)


def why_skipped(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test or a file of them was skipped, or is known to fail."""
    if isinstance(report.longrepr, tuple):
        return f"skipped: {str(report.longrepr[2]).removeprefix('Skipped: ')}"
    why = str(getattr(report, "wasxfail", ""))
    return f"expected to fail: {why}" if why else "expected to fail"
