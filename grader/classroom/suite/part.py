"""What is asked of a suite's engine, files of tests on one submission, and what comes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.classroom.suite.inventory import Inventory, TestFile
from grader.protocol.job import Job
from grader.protocol.transcript import Transcript

IMPORT = 3.0
"""Times the limit of a test: what it may take until the first one begins, with all that is imported."""


@dataclass(frozen=True)
class SuiteRequest:
    """What a child is to run: of the tests in `files` those from the one numbered `first`.

    They may take so many `seconds` together. The modules `endless` are known to take longer to import.
    `traced`: it is told of each that fails whether any of the student's code has run.
    """

    files: tuple[str, ...]
    seconds: float
    first: int = 0
    endless: tuple[str, ...] = ()
    traced: bool = False


@dataclass(frozen=True)
class Part(Job):
    """Files of tests to run on one submission, from the test numbered `first`, each in `each` seconds.

    The student's modules `endless` are known to take too long to import.
    """

    files: tuple[TestFile, ...] = ()
    each: float = 0.0
    first: int = 0
    endless: tuple[str, ...] = ()
    traced: bool = False

    @property
    def tests(self) -> list[str]:
        """How pytest calls the tests, in their order."""
        return [f"{file.path}::{check.id}" for file in self.files for check in file.checks]

    @property
    def seconds(self) -> float:
        """How long they may take together."""
        return (len(self.tests) + IMPORT) * self.each

    def told(self) -> dict[str, Any]:
        """What the engine does not know."""
        files = tuple(file.path for file in self.files)
        return vars(SuiteRequest(files, self.seconds, self.first, self.endless, self.traced))


@dataclass(frozen=True)
class SuiteTranscript(Transcript):
    """What came of a part, as a whole, and for each file by its path with the tests' own ids."""

    files: Mapping[str, Transcript] = field(default_factory=dict)


def part(tests: Inventory, files: Sequence[TestFile], answer: bytes, seconds: float) -> Part:
    """These files of tests, of which each test may take so many seconds, on a submission's own files."""
    found = Part(tests.catalog.exercises[0], answer, 0, "check", files=tuple(files), each=seconds)
    return replace(found, exercise=replace(found.exercise, seconds=found.seconds))


def of_file(found: Transcript, file: TestFile) -> Transcript:
    """Of a transcript what is about one file of tests."""
    checks = {
        check.id: found.checks[id]
        for check in file.checks
        if (id := f"{file.path}::{check.id}") in found.checks
    }
    return replace(found, checks=checks)
