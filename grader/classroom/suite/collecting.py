"""Which tests a suite has, found out in a child that has nothing of any student's.

What it finds out of a reference's files no other process of the engine is to hold, and no answer inherits.
"""

import json
import os
import signal
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import pytest

from grader import sandbox
from grader.classroom.suite import pytest_run
from grader.classroom.suite.failure import Places, why_skipped
from grader.classroom.suite.imports import Imports
from grader.classroom.suite.warm_suite import WarmSuite
from grader.core.errors import KataError
from grader.core.packed import Files, unpacked
from grader.core.sanitize import one_line
from grader.protocol.check import CheckSpec

SECONDS = 120
_NOTHING = {
    "tests": {},
    "problems": ["what the tests import ends the process, or takes more than two minutes"],
}


def told_of(packed: int, work: Callable[[Files], object]) -> Any:
    """What `work` returns, as JSON has it, of the files packed behind a descriptor; None where it does not.

    It has `SECONDS`, a folder of its own, and a process that ends with it.
    """
    box = sandbox.Unconfined()
    reader, writer = os.pipe()
    pid = box.fork(sandbox.Limits(), keep=(packed, writer))
    if pid == 0:
        signal.alarm(SECONDS)
        try:
            os.lseek(packed, 0, os.SEEK_SET)  # one place in it for all who have it
            with os.fdopen(packed, "rb") as source:
                found = work(unpacked(source.read()))
            with os.fdopen(writer, "w") as told:
                json.dump(found, told)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        text = told.read()
    box.wait(pid, SECONDS)
    return json.loads(text) if text else None


def collect(suite: WarmSuite, reference: int) -> dict[str, list[CheckSpec]]:
    """The tests of each file, by its path; of one that is skipped as a whole, a spec without id says why.

    They are collected with the files packed behind the descriptor `reference`.

    Raises:
        KataError: a file does not import with the reference at hand, or there are no tests.
    """
    found: dict[str, Any] = told_of(reference, partial(_collected, suite)) or _NOTHING
    if found["problems"]:
        raise KataError(
            f"{found['problems'][0]} (tests are collected with --solution, or with what is handed out)"
        )
    if not found["tests"]:
        raise KataError("pytest finds no tests there; name a folder with test_*.py in it")
    skipped = {file: [CheckSpec("", file, lacks=why)] for file, why in found["skipped"].items()}
    tests = {file: [CheckSpec(id, title) for id, title in held] for file, held in found["tests"].items()}
    return {**skipped, **tests}


def _collected(suite: WarmSuite, reference: Files) -> dict[str, Any]:
    root = pytest_run.laid(suite, reference)
    found = _Collected(Places(root, suite))
    Imports(suite, root, lambda **_told: None).install()
    trouble = pytest_run.start(suite, root, [suite.place], found, collect_only=True)
    problems = found.problems or ([trouble] if trouble else [])
    return {"tests": found.tests, "skipped": found.skipped, "problems": problems}


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
            told = self._places.import_trouble(report.call.excinfo.value)
            why = "; ".join(fact.text for fact in told.facts)
            self.problems.append(one_line(f"{collector.nodeid} does not import: {why}"))
        if report.skipped:
            self.skipped[collector.nodeid] = one_line(why_skipped(report))
        return report


def title(item: pytest.Item, id: str) -> str:
    """The first line of a test's docstring, else what it is called without its parameters."""
    text = getattr(getattr(item, "function", None), "__doc__", None) or ""
    return next((line.strip() for line in text.splitlines() if line.strip()), id.partition("[")[0])
