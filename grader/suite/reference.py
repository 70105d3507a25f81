"""What tests are collected with, and tried on before any submission: a solution, or the suite's own stubs.

What a solution does not pass, or a test that is skipped here, counts for nobody.
"""

from dataclasses import dataclass, replace

from grader.core.errors import KataError
from grader.core.packed import Files, packed
from grader.core.sanitize import one_line
from grader.protocol.check import CheckSpec
from grader.protocol.transcript import Transcript
from grader.suite import inventory
from grader.suite.inventory import Inventory
from grader.suite.part import part
from grader.suite.running import SuitePool
from grader.suite.suite import Suite


@dataclass(frozen=True)
class Reference:
    """Files that tests can be collected with; those of a solution are to pass them."""

    files: Files
    is_solution: bool = False

    @property
    def packed(self) -> bytes:
        return packed(self.files)


def tried(pool: SuitePool, suite: Suite, reference: Reference, digest: str) -> Inventory:
    """The suite's tests, each with why it counts for nobody, if it does not.

    Raises:
        KataError: the tests could not be tried.
    """
    tests = inventory.listed(suite.name, str(suite.folder), digest, pool.inventory)
    files = []
    for file in tests.files:
        asked = part(tests, [file], reference.packed, suite.settings.seconds)
        found = pool.reference(asked).files[file.path]
        if found.ended.lost:
            raise KataError(f"{file.path} could not be tried: {found.ended.lost}; nothing was graded")
        checks = (replace(spec, lacks=_lacks(spec, found, reference)) for spec in file.checks)
        files.append(replace(file, checks=tuple(checks)))
    why = [check.lacks for file in files for check in file.checks]
    if reference.is_solution and all(why):
        raise KataError(
            f"no test would count: {why[0]}; is --solution whole, and what students write named by --adapter?"
        )
    return replace(tests, files=tuple(files))


def _lacks(spec: CheckSpec, found: Transcript, reference: Reference) -> str | None:
    of = found.of(spec)
    told = one_line(of.feedback.headline) if of.feedback else of.outcome
    if of.outcome == "not_graded":
        return told
    if reference.is_solution and of.outcome != "passed":
        return f"the solution does not pass it ({told})"
    return None
