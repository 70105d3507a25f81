"""From what a test raised to the lines that a student reads: both sides of an assert, and where it was."""

import linecache
from dataclasses import replace
from pathlib import Path
from pickle import PickleError
from zipfile import BadZipFile

import pytest

from grader.checks.error_words import error_line
from grader.classroom.suite.warm_suite import WarmSuite
from grader.core.sanitize import one_line
from grader.core.timeout import TooSlow
from grader.protocol.feedback import Fact, Feedback, Kind, Where

_ADVICE = "Use -v to get more diff"
"""Nobody can."""
_OF_THE_MACHINE = (
    OSError,
    ImportError,
    EOFError,
    UnicodeError,
    PickleError,
    BadZipFile,
    pytest.FixtureLookupError,
)
"""What fails by files, packages and fixtures, and by no value that an answer gives."""


class Places:
    """The files below `root`, the suite's and the student's."""

    def __init__(self, root: Path, suite: WarmSuite) -> None:
        self._root = root
        self._tests = root / suite.place
        self._suite = frozenset(suite.files)
        self._seconds = suite.seconds

    def feedback(
        self, excinfo: pytest.ExceptionInfo[BaseException], when: str, ran: bool | None = None
    ) -> Feedback:
        """What is told of a test that failed; `ran`: whether the student's code has, where that is known."""
        error = excinfo.value
        where = self._where(excinfo)
        kind: Kind = "outside" if self._is_outside(excinfo, when, ran) else ""
        if isinstance(error, TooSlow):
            return Feedback(
                f"still running after {self._seconds:g} s: an endless loop?", where=where, kind=kind
            )
        if isinstance(error, AssertionError):
            return replace(_of_assert(str(error), where), kind=kind)
        phase = "" if when == "call" else f" in the test's {when}"
        return Feedback(f"raised{phase} {self._without_root(error_line(error))}", where=where, kind=kind)

    def _is_outside(self, excinfo: pytest.ExceptionInfo[BaseException], when: str, ran: bool | None) -> bool:
        """Whether it is nothing of the student's: what no line of theirs raised, and they need not write."""
        error = excinfo.value
        is_wrong_value = isinstance(error, AssertionError) and when == "call"
        if is_wrong_value or any(path not in self._suite for path, _ in self._lines(excinfo)):
            return False
        if ran is not None:
            return not ran
        return isinstance(error, _OF_THE_MACHINE) and not self._is_to_be_written(error)

    def _is_to_be_written(self, error: BaseException) -> bool:
        """Whether it is about a file that the student's code may have to write: none of the suite's."""
        file = Path(str(getattr(error, "filename", None) or self._tests))
        file = file if file.is_absolute() else self._root / file
        return file.is_relative_to(self._root.parent) and not file.is_relative_to(self._tests)

    def _without_root(self, text: str) -> str:
        return text.replace(f"{self._root}/", "")

    def import_trouble(self, error: BaseException) -> Feedback:
        """Why the tests do not import."""
        while isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
            error = error.__cause__
        late = "still importing after its time: an endless loop?"
        said = late if isinstance(error, TooSlow) else self._bad_text(error) or error_line(error)
        return unusable(said, self._where(pytest.ExceptionInfo.from_exception(error)))

    def _bad_text(self, error: BaseException) -> str:
        """Of a file in another encoding than it says, what to do."""
        if not isinstance(error, SyntaxError) or "codec can't decode" not in str(error.msg):
            return ""
        file = error.filename or ""
        return f"{self._inside(file) or Path(file).name} is not UTF-8; save it as UTF-8 text"

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
        lines = self._lines(excinfo)
        own = [(path, line) for path, line in lines if path not in self._suite]
        if not (own or lines):
            return None
        path, line = own[-1] if own else lines[0]
        return Where(path, line, linecache.getline(str(self._root / path), line).strip())

    def _lines(self, excinfo: pytest.ExceptionInfo[BaseException]) -> list[tuple[str, int]]:
        """The lines of the suite's and the student's files, the outermost first."""
        return [
            (path, entry.lineno + 1)
            for entry in excinfo.traceback
            if (path := self._inside(entry.frame.code.raw.co_filename)) is not None
        ]

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
