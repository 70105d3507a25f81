"""A plugin of pytest that limits each test's time, and tells how it went as soon as that is known."""

import sys
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import pytest

from grader.classroom.suite import clocks, failure
from grader.classroom.suite.warm_suite import WarmSuite
from grader.core.sanitize import one_line
from grader.core.timeout import TooSlow, within
from grader.protocol.check import Finding
from grader.protocol.feedback import Fact, Feedback

_SUBTEST = "context"
"""What a subtest's report has, and no other."""


class Ran:
    """Set where a function of a file below `root` that is none of the suite's is called.

    To look takes time: it is done before there is a class.
    """

    def __init__(self, suite: WarmSuite, root: Path) -> None:
        self._suite = suite.laid_in(root)
        self._root = f"{root}/"
        self.is_set = False

    def watch(self) -> None:
        """Look from now on, in all threads."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def _look(self, frame: FrameType, event: str, _value: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(self._root) and file not in self._suite:
            self.is_set = True


class Reporter:
    """Tells of the tests named by `tests`, in the order they are run; of no others.

    What is no outcome it notes: `note` need not look whether anything was changed.
    """

    def __init__(
        self,
        tests: Sequence[str],
        suite: WarmSuite,
        root: Path,
        tell: Callable[..., None],
        note: Callable[..., None],
        begins: Callable[[], None],
        ran: Ran | None = None,
    ) -> None:
        self._tests = frozenset(tests)
        self._seconds = suite.seconds
        self._places = failure.Places(root, suite)
        self._tell = tell
        self._note = note
        self._begins = begins
        self._ran = ran
        self._started = 0.0
        self._looks = 0
        self._findings: dict[str, Finding] = {}
        self._is_late = False
        self._is_collected = False
        self._is_calling = False
        self._waiting: set[str] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        with within(2 * self._seconds):
            return (yield)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = filter(self._id, items)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        self._note(importing=collector.nodeid)
        try:
            report = yield
        except BaseException as error:  # sys.exit or pytest.exit, with which pytest would end
            self.does_not_import(error)
            raise
        raised = report.call.excinfo if report.failed and report.call else None
        if raised is not None:
            self.does_not_import(raised.value)
        if raised is None or not raised.errisinstance(TooSlow):
            self._note(imported=collector.nodeid)
        return report

    def does_not_import(self, error: BaseException) -> None:
        """Say so, once, and why."""
        if not self._is_collected:
            self._is_collected = True
            told = self._places.import_trouble(error)
            self._tell(broken=True, feedback=told.to_json(), memory=isinstance(error, MemoryError))
            if isinstance(error, TooSlow):
                self._tell(stopped="timeout")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._waiting.update(map(self._id, session.items))
        if not self._is_collected:
            self._is_collected = True
            self._tell(collected=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._begins()
        if self._ran:
            self._ran.is_set = False
        self._started, self._looks = perf_counter(), clocks.looks()
        result = yield
        if finding := self._findings.pop(id := self._id(item), None):
            self._waiting.discard(id)
            finding = replace(finding, seconds=round(perf_counter() - self._started, 4))
            self._tell(check=id, **finding.to_json())
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        with within(self._left()):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        self._is_calling = True
        try:
            with within(self._left()):
                return (yield)
        finally:
            self._is_calling = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        with within(self._left()):
            return (yield)

    def _left(self) -> float:
        """What is left of the test's time; a little of it always."""
        return max(self._seconds - (perf_counter() - self._started), 0.5)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if self._is_calling and not report.failed:  # a subtest: the test that it is a part of has not ended
            return report
        id, passed = self._id(item), Finding("passed")
        if report.when == "call" and report.passed:
            self._findings.setdefault(id, passed)
        elif not report.passed and self._findings.get(id, passed) == passed:  # what fails first is told
            self._findings[id] = self._finding(report, call)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of a subtest that failed, what it is called: pytest adds that late."""
        context, finding = getattr(report, _SUBTEST, None), self._findings.get(report.nodeid)
        told = finding and finding.feedback
        if not (context and report.failed and finding and told):
            return
        if not any(fact.name == "subtest" for fact in told.facts):
            told = replace(told, facts=(Fact("subtest", _called(context)), *told.facts))
            self._findings[report.nodeid] = replace(finding, feedback=told)

    def _finding(self, report: pytest.TestReport, call: pytest.CallInfo[None]) -> Finding:
        if report.skipped:
            return Finding("not_graded", Feedback(failure.why_skipped(report)))
        if call.excinfo is None:  # a test that was to fail, and passes
            return Finding("failed", Feedback(str(report.longrepr)))
        error = call.excinfo.value
        if self._places.is_todo(call.excinfo):
            return Finding("todo", self._places.todo(call.excinfo))
        self._is_late = self._is_late or isinstance(error, TooSlow)
        if isinstance(error, MemoryError):
            self._note(memory=True)
        return Finding(
            "timeout" if isinstance(error, TooSlow) else "failed",
            self._places.feedback(call.excinfo, call.when, self._ran.is_set if self._ran else None),
            by_clock=clocks.looks() > self._looks or clocks.tells_of_one(error),
        )

    def finish(self, trouble: str) -> None:
        """Say that nothing more comes, and why if nothing came.

        Where a test has ended the run, say nothing: those after it are run by another process.
        """
        if not self._is_collected:
            self._tell(broken=True, feedback=failure.unusable(trouble).to_json())
        elif self._waiting:
            return
        elif self._is_late:
            self._tell(stopped="timeout")
        else:
            self._tell(done=True)

    def _id(self, item: pytest.Item) -> str:
        """How pytest calls a test that is asked for; "" for another one."""
        return item.nodeid if item.nodeid in self._tests else ""


def _called(context: Any) -> str:
    """A subtest's message and parameters."""
    parameters = [f"{name}={value}" for name, value in dict(context.kwargs).items()]
    return one_line(", ".join([*([str(context.msg)] if context.msg else []), *parameters]))
