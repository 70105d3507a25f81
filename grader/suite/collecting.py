"""Which tests a suite has, found out in a child that has nothing of any student's."""

import json
import os
import signal
from collections.abc import Generator
from typing import Any

import pytest

from grader import sandbox
from grader.core.errors import KataError
from grader.core.sanitize import one_line
from grader.protocol.check import CheckSpec
from grader.suite import pytest_run
from grader.suite.court import Court
from grader.suite.failure import Places, why_skipped

_SECONDS = 120
_NOTHING = {
    "tests": {},
    "problems": ["what the tests import ends the process, or takes more than two minutes"],
}


def collect(court: Court) -> dict[str, list[CheckSpec]]:
    """The tests of each file, by its path; of one that is skipped as a whole, a spec without id says why.

    Raises:
        KataError: a file does not import with the reference at hand, or there are no tests.
    """
    box = sandbox.Unconfined()
    reader, writer = os.pipe()
    pid = box.fork(sandbox.Limits(), keep=(writer,))
    if pid == 0:
        signal.alarm(_SECONDS)
        try:
            _tell(court, writer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        text = told.read()
    box.wait(pid, _SECONDS)
    found: dict[str, Any] = json.loads(text) if text else _NOTHING
    if found["problems"]:
        raise KataError(
            f"{found['problems'][0]} (tests are collected with --solution, or with what is handed out)"
        )
    if not found["tests"]:
        raise KataError("pytest finds no tests there; name a folder with test_*.py in it")
    skipped = {file: [CheckSpec("", file, lacks=why)] for file, why in found["skipped"].items()}
    tests = {file: [CheckSpec(id, title) for id, title in held] for file, held in found["tests"].items()}
    return {**skipped, **tests}


def _tell(court: Court, writer: int) -> None:
    root = pytest_run.laid(court, court.reference)
    found = _Collected(Places(root, court))
    trouble = pytest_run.start(court, root, [court.place], found, collect_only=True)
    problems = found.problems or ([trouble] if trouble else [])
    with os.fdopen(writer, "w") as told:
        json.dump({"tests": found.tests, "skipped": found.skipped, "problems": problems}, told)


class _Collected:
    """A plugin that notes what pytest collects."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.tests: dict[str, list[tuple[str, str]]] = {}
        self.skipped: dict[str, str] = {}
        self.problems: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            file, _, id = item.nodeid.partition("::")
            self.tests.setdefault(file, []).append((id, title(item, id)))

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if report.failed and report.call is not None and report.call.excinfo is not None:
            told = self._places.import_trouble(report.call.excinfo)
            why = "; ".join(fact.text for fact in told.facts)
            self.problems.append(one_line(f"{collector.nodeid} does not import: {why}"))
        if report.skipped:
            self.skipped[collector.nodeid] = one_line(why_skipped(report))
        return report


def title(item: pytest.Item, id: str) -> str:
    """The first line of a test's docstring, else what it is called without its parameters."""
    text = getattr(getattr(item, "function", None), "__doc__", None) or ""
    return next((line.strip() for line in text.splitlines() if line.strip()), id.partition("[")[0])
