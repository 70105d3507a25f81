"""Run files of tests on one submission, in a process of its own.

The student's code runs here, so nothing that this process writes is trusted further on.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import torch

from grader.classroom.suite import pytest_run
from grader.classroom.suite.imports import Imports
from grader.classroom.suite.part import SuiteRequest
from grader.classroom.suite.reporter import Ran, Reporter
from grader.classroom.suite.warm_suite import WarmSuite
from grader.classroom.suite.watch import Watch
from grader.core.packed import unpacked
from grader.core.timeout import TooSlow, within
from grader.engine.telling import Telling


class SuiteChild:
    """The process that runs the tests that are `asked` for; `beat` is called whenever one begins."""

    def __init__(
        self, suite: WarmSuite, asked: SuiteRequest, telling: Telling, beat: Callable[[], None]
    ) -> None:
        self.suite = suite
        self.asked = asked
        self.tests = [f"{file}::{id}" for file in asked.files for id in suite.tests[file]][asked.first :]
        self.tell = telling.tell
        self.beat = beat
        self.root = Path.cwd()

    def prepare(self, answer: int) -> None:
        """All that can be done before any of the student's code is imported."""
        torch.set_num_threads(1)
        with os.fdopen(answer, "rb") as source:
            own = unpacked(source.read())
        self.root = pytest_run.laid(self.suite, own)

    def run(self) -> None:
        """Run the tests, and tell of each."""
        watch = Watch(self.suite, self.root, self._cheats)

        def tell(**finding: Any) -> None:
            watch.look()
            self.tell(**finding)

        ran = Ran(self.suite, self.root) if self.asked.traced else None
        reporter = Reporter(self.tests, self.suite, self.root, tell, self.tell, self.beat, ran)
        if ran:
            ran.watch()
        Imports(self.suite, self.root, self.tell, self.asked.endless).install()
        watch.begin(self, reporter)
        try:
            with within(2 * self.suite.seconds):  # for a conftest; what comes after it has its own limits
                trouble = pytest_run.start(self.suite, self.root, self.asked.files, reporter, watch)
        except TooSlow as late:
            reporter.does_not_import(late)
        else:
            reporter.finish(trouble)

    def _cheats(self, change: str) -> NoReturn:
        self.tell(tampered=change)
        os._exit(0)
