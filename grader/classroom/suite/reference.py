"""What tests are collected with, and tried on before any submission: a solution, or the suite's own stubs.

What a solution does not pass, or a test that is skipped here, counts for nobody.
"""

from dataclasses import dataclass, replace

from grader.classroom.suite import inventory
from grader.classroom.suite.everybody import spot
from grader.classroom.suite.inventory import Inventory
from grader.classroom.suite.part import part
from grader.classroom.suite.running import SuitePool
from grader.classroom.suite.suite import Suite
from grader.core.errors import KataError
from grader.core.packed import Files, packed
from grader.core.sanitize import one_line
from grader.course import paths
from grader.protocol.check import CheckSpec
from grader.protocol.transcript import Transcript


@dataclass(frozen=True)
class SuiteReference:
    """Files that tests can be collected with; those of a solution are to pass them."""

    files: Files
    is_solution: bool = False

    @property
    def packed(self) -> bytes:
        return packed(self.files)


def tried(pool: SuitePool, suite: Suite, reference: SuiteReference, digest: str) -> Inventory:
    """The suite's tests, each with why it counts for nobody, if it does not.

    Raises:
        KataError: the tests could not be tried.
    """
    tests = inventory.listed(suite.name, str(suite.folder), digest, pool.inventory)
    files = []
    for file in tests.files:
        asked = part(tests, [file], reference.packed, suite.settings.seconds)
        found = pool.reference(replace(asked, traced=not reference.is_solution)).files[file.path]
        if found.ended.lost:
            raise KataError(f"{file.path} could not be tried: {found.ended.lost}; nothing was graded")
        checks = (replace(spec, lacks=_lacks(spec, found, suite, reference)) for spec in file.checks)
        told = {spec.id: found.of(spec).feedback for spec in file.checks}
        suspects = {id: spot(each) for id, each in told.items() if each and each.kind == "outside"}
        files.append(replace(file, checks=tuple(checks), suspects=suspects))
    why = [check.lacks or "" for file in files for check in file.checks]
    if reference.is_solution and all(why):
        ask = "is --solution whole, and what students write named by --adapter?"
        raise KataError(f"no test would count: {why[0]}{'' if _TOO_SLOW in why[0] else f'; {ask}'}")
    return replace(tests, files=tuple(files))


_TOO_SLOW = "the solution takes longer than a test may"


def _lacks(spec: CheckSpec, found: Transcript, suite: Suite, reference: SuiteReference) -> str | None:
    of = found.of(spec)
    told = one_line(of.feedback.headline) if of.feedback else of.outcome
    if of.outcome == "not_graded":
        return told
    if not reference.is_solution or of.outcome == "passed":
        return None
    is_late = found.last_word == "stopped" or found.ended.timed_out
    if of.outcome == "timeout" or (of.outcome == "missing" and is_late):
        known = f"{suite.settings.seconds:g} s, unless {paths.shown(suite.settings.file)} says `seconds = …`"
        return f"{_TOO_SLOW} ({known})"
    return f"the solution does not pass it ({told})"
