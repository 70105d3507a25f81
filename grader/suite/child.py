"""Run files of tests on one submission, in a process of its own.

The student's code runs here, so nothing that this process writes is trusted further on.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import torch

from grader.core.packed import unpacked
from grader.engine.telling import Telling
from grader.suite import pytest_run
from grader.suite.court import Court
from grader.suite.reporter import Reporter
from grader.suite.watch import Watch


class Child:
    """The process that judges; it writes to the descriptor `results`, each line after `mark`.

    It runs the tests of `files` from the one numbered `first`, and writes to `beat` whenever one begins.
    """

    def __init__(
        self, court: Court, files: Sequence[str], first: int, mark: str, results: int, beat: int
    ) -> None:
        self.court = court
        self.files = files
        self.tests = [f"{file}::{id}" for file in files for id in court.tests[file]][first:]
        self.tell = Telling.to(results, mark).tell
        self.beat = beat
        self.root = Path.cwd()

    def prepare(self, answer: int) -> None:
        """All that can be done before any of the student's code is imported."""
        torch.set_num_threads(1)
        with os.fdopen(answer, "rb") as source:
            own = unpacked(source.read())
        self.root = pytest_run.laid(self.court, own)

    def run(self) -> None:
        """Run the tests, and tell of each."""
        watch = Watch(self.court, self.root, self._cheats)

        def tell(**finding: Any) -> None:
            watch.look()
            self.tell(**finding)

        reporter = Reporter(self.tests, self.court, self.root, tell, self._begins)
        watch.begin(self, reporter)
        trouble = pytest_run.start(self.court, self.root, self.files, reporter, watch)
        reporter.finish(trouble)

    def _cheats(self, change: str) -> NoReturn:
        self.tell(tampered=change)
        os._exit(0)

    def _begins(self) -> None:
        with suppress(OSError):
            os.write(self.beat, b".")
