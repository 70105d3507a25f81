"""`kata grade-suite`: an assignment's own tests, on what a class handed in."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from grader.classroom.cli.class_table import show, tell, tell_changes
from grader.classroom.cli.options import ClassOptions, SuiteOptions
from grader.classroom.cli.roster import settled
from grader.classroom.export import document
from grader.classroom.submissions import roll_call
from grader.classroom.submissions.class_folder import listed
from grader.classroom.suite import hand_ins, texts
from grader.classroom.suite import suite as suites
from grader.classroom.suite.grade import SuiteGrading, judged_by_others
from grader.classroom.suite.grade import grade as run
from grader.classroom.suite.inventory import Inventory
from grader.classroom.suite.reference import SuiteReference
from grader.classroom.suite.suite import Suite
from grader.core.errors import KataError
from grader.core.progress_bar import bar
from grader.engine import backend
from grader.records.log import Log

if TYPE_CHECKING:
    from grader.classroom.similar.assignment import SuiteAssignment


def grade(options: ClassOptions, own: SuiteOptions, out: Console, err: Console) -> bool:
    """Grade a class by an assignment's own tests; print its table, or all of it as JSON.

    True where everything was judged.
    """
    if not backend.is_warm():
        raise KataError("tests run in a process forked for each submission, which needs Linux; grade there")
    results = options.results
    asked = _read(own, options.submissions, results)
    texts.expect(asked)
    students = settled(results, options.roster, err)
    reference = (
        SuiteReference(asked.stubs) if own.solution is None else hand_ins.solution(own.solution, asked)
    )
    with bar(err, "reading submissions") as progress:
        handed_in = hand_ins.collect(options.submissions, asked, students, progress)
    work = roll_call.called(handed_in, students, results, (hand_ins.ANSWER,))
    for note in work.notes:
        tell(f"note: {note}", err)
    settings = SuiteGrading(results, options.jobs or os.cpu_count() or 1, options.confined)
    log = Log(results, students)
    with bar(err, "running tests") as progress:
        records, tests = run(work.submissions, asked, reference, settings, progress, log)
    others = listed(
        "judged by the tests as they were before, hand them in again",
        judged_by_others(results, asked, records),
    )
    for_nobody = (*_for_nobody(tests), *others)
    for note in for_nobody:
        tell(f"note: {note}", err)
    if options.as_json:
        changes = [change.to_json() for change in log.changes]
        places = {"results": str(results), "notes": [*work.notes, *for_nobody], "changes": changes}
        out.print_json(data={**document(records, tests.catalog), **places}, ensure_ascii=True)
    else:
        show(records, results, out, tests.catalog, of_suite=True)
        tell_changes(log.changes, out)
    at_fault = any(e.status == "grader_fault" for record in records for e in record.exercises.values())
    return not at_fault and not any(file.faults for file in tests.files)


def assignment(submissions: Path, own: SuiteOptions) -> "SuiteAssignment":
    """The suite for `kata similar-suite`.

    Raises:
        KataError: there is none, or no solution.
    """
    from grader.classroom.similar.assignment import SuiteAssignment

    asked = _read(own, submissions)
    return SuiteAssignment(
        asked, {} if own.solution is None else hand_ins.solution(own.solution, asked).files
    )


def _read(own: SuiteOptions, *without: Path) -> Suite:
    return suites.read(own.suite, own.adapters, own.handout, (*without, own.solution))


def _for_nobody(tests: Inventory) -> tuple[str, ...]:
    """The tests that count for nobody, and why, a note for each reason."""
    why: dict[str, list[str]] = {}
    for path, reason in tests.skipped.items():
        why.setdefault(reason, []).append(path)
    for file in tests.files:
        for check in file.checks:
            if reason := file.why_not(check):
                why.setdefault(reason, []).append(f"{file.path}::{check.id}")
    return tuple(note for reason, ids in why.items() for note in listed(f"graded for nobody, {reason}", ids))
