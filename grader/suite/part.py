"""What is asked of a suite's engine: one file of tests on one submission."""

from dataclasses import dataclass, replace
from typing import Any

from grader.protocol.job import Job
from grader.suite.inventory import Inventory, TestFile

GRACE = 2.0
"""Seconds beyond the limit of a test after which its process is ended: its own alarm can tell the line."""
IMPORT = 3.0
"""Times the limit of a test: what it may take until the first one begins, with all that is imported."""


@dataclass(frozen=True)
class Part(Job):
    """One file of tests to run on one submission: `tests` by their ids, from the one numbered `first`."""

    file: str = ""
    first: int = 0
    tests: tuple[str, ...] = ()

    def told(self) -> dict[str, Any]:
        """What the engine does not know."""
        return {"file": self.file, "first": self.first, "seconds": self.exercise.seconds}


def part(tests: Inventory, file: TestFile, answer: bytes, seconds: float) -> Part:
    """The tests of a file, each of which may take so many seconds, to be run on a submission's own files."""
    most = (len(file.checks) + IMPORT) * seconds + GRACE
    exercise = replace(tests.catalog.exercise(file.slug), seconds=most)
    ids = tuple(check.id for check in file.checks)
    return Part(exercise, answer, 0, mode="check", file=file.path, tests=ids)
