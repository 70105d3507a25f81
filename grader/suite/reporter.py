"""A plugin of pytest that limits each test's time, and tells how it went as soon as that is known."""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.core.sanitize import one_line
from grader.core.timeout import TooSlow, within
from grader.protocol.feedback import Fact, Feedback
from grader.suite import failure
from grader.suite.court import Court

_SUBTEST = "context"
"""What a subtest's report has, and no other."""


class Reporter:
    """Tells of the tests named by `tests`, in the order they are run; of no others."""

    def __init__(
        self,
        tests: Sequence[str],
        court: Court,
        root: Path,
        tell: Callable[..., None],
        begins: Callable[[], None],
    ) -> None:
        self._tests = frozenset(tests)
        self._seconds = court.seconds
        self._places = failure.Places(root, court)
        self._tell = tell
        self._begins = begins
        self._started = 0.0
        self._found: dict[str, dict[str, Any]] = {}
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
        try:
            report = yield
        except BaseException as error:  # sys.exit or pytest.exit, with which pytest would end
            self._does_not_import(pytest.ExceptionInfo.from_exception(error))
            raise
        if report.failed and report.call and report.call.excinfo is not None:
            self._does_not_import(report.call.excinfo)
        return report

    def _does_not_import(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if not self._is_collected:
            self._is_collected = True
            told = self._places.import_trouble(excinfo)
            is_memory = isinstance(excinfo.value, MemoryError)
            self._tell(broken=True, feedback=told.to_json(), memory=is_memory)
            if isinstance(excinfo.value, TooSlow):
                self._tell(stopped="timeout")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._waiting.update(map(self._id, session.items))
        if not self._is_collected:
            self._is_collected = True
            self._tell(collected=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._begins()
        self._started = time.perf_counter()
        result = yield
        if found := self._found.pop(id := self._id(item), None):
            self._waiting.discard(id)
            if told := found.get("feedback"):
                found["feedback"] = told.to_json()
            self._tell(check=id, seconds=round(time.perf_counter() - self._started, 4), **found)
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
        return max(self._seconds - (time.perf_counter() - self._started), 0.5)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if self._is_calling and not report.failed:  # a subtest: the test that it is a part of has not ended
            return report
        id, passed = self._id(item), {"outcome": "passed"}
        if report.when == "call" and report.passed:
            self._found.setdefault(id, passed)
        elif not report.passed and self._found.get(id, passed) == passed:  # what fails first is told
            self._found[id] = self._finding(report, call)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of a subtest that failed, what it is called: pytest adds that late."""
        context, found = getattr(report, _SUBTEST, None), self._found.get(report.nodeid, {})
        told: Feedback | None = found.get("feedback")
        if context and report.failed and told and not any(fact.name == "subtest" for fact in told.facts):
            found["feedback"] = replace(told, facts=(Fact("subtest", _called(context)), *told.facts))

    def _finding(self, report: pytest.TestReport, call: pytest.CallInfo[None]) -> dict[str, Any]:
        if report.skipped:
            return {"outcome": "not_graded", "feedback": Feedback(failure.why_skipped(report))}
        if call.excinfo is None:  # a test that was to fail, and passes
            return {"outcome": "failed", "feedback": Feedback(str(report.longrepr))}
        error = call.excinfo.value
        if self._places.is_todo(call.excinfo):
            return {"outcome": "todo", "feedback": self._places.todo(call.excinfo)}
        self._is_late = self._is_late or isinstance(error, TooSlow)
        return {
            "outcome": "timeout" if isinstance(error, TooSlow) else "failed",
            "feedback": self._places.feedback(call.excinfo, call.when),
            "memory": isinstance(error, MemoryError),
        }

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
