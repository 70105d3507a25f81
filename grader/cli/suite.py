"""`kata grade --suite`: an assignment's own tests, on what a class handed in."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from grader.cli.class_table import show, tell
from grader.core.errors import KataError
from grader.core.progress_bar import bar
from grader.course import roster as rosters
from grader.engine import backend
from grader.export import document
from grader.submissions import roll_call
from grader.submissions.class_folder import listed
from grader.suite import hand_ins
from grader.suite import suite as suites
from grader.suite.grade import Settings, judged_by_others
from grader.suite.grade import grade as run
from grader.suite.inventory import Inventory
from grader.suite.reference import Reference

if TYPE_CHECKING:
    from grader.similar.assignment import Assignment


def grade(
    submissions: Path,
    suite: Path,
    *,
    adapters: Sequence[Path],
    handout: Path | None,
    solution: Path | None,
    results: Path,
    jobs: int | None,
    confined: bool,
    as_json: bool,
    roster: Path | None,
    out: Console,
    err: Console,
) -> bool:
    """Grade a class by an assignment's own tests; print its table, or all of it as JSON.

    True where everything was judged.
    """
    if not backend.is_warm():
        raise KataError("--suite forks a process for each submission, which needs Linux; grade there")
    asked = suites.read(suite, adapters, handout, (submissions, solution, results))
    students = rosters.load(roster)
    reference = Reference(asked.stubs) if solution is None else hand_ins.solution(solution, asked)
    with bar(err, "reading submissions") as progress:
        handed_in = hand_ins.collect(submissions, asked, students, progress)
    work = roll_call.called(handed_in, students, results)
    for note in work.notes:
        tell(f"note: {note}", err)
    settings = Settings(results, jobs or os.cpu_count() or 1, confined)
    with bar(err, "running tests") as progress:
        records, tests = run(work.submissions, asked, reference, settings, progress)
    others = listed(
        "judged by the tests as they were before, hand them in again",
        judged_by_others(results, asked, records),
    )
    for_nobody = (*_for_nobody(tests), *others)
    for note in for_nobody:
        tell(f"note: {note}", err)
    if as_json:
        places = {"results": str(results), "notes": [*work.notes, *for_nobody]}
        out.print_json(data={**document(records, tests.catalog), **places}, ensure_ascii=True)
    else:
        show(records, results, out, tests.catalog, of_suite=True)
    return not any(e.status == "grader_fault" for record in records for e in record.exercises.values())


def assignment(
    submissions: Path, suite: Path, adapters: Sequence[Path], handout: Path | None, solution: Path | None
) -> "Assignment":
    """The suite for `kata similar`.

    Raises:
        KataError: there is none, or no solution.
    """
    from grader.similar.assignment import Assignment

    asked = suites.read(suite, adapters, handout, (submissions, solution))
    return Assignment(asked, {} if solution is None else hand_ins.solution(solution, asked).files)


def expect_with_suite(adapter: object, handout: object, solution: object) -> None:
    """Raises KataError where one of these was given, and no suite."""
    options = {"--adapter": adapter, "--handout": handout, "--solution": solution}
    expect_none(options, "is of use with --suite alone")


def expect_none(options: Mapping[str, object], why: str) -> None:
    """Raises KataError, with this reason, where one of the options was given."""
    for name, value in options.items():
        if value is not None:
            raise KataError(f"{name} {why}; leave it out")


def _for_nobody(tests: Inventory) -> tuple[str, ...]:
    """The tests that count for nobody, and why, a note for each reason."""
    why: dict[str, list[str]] = {}
    for path, reason in tests.skipped.items():
        why.setdefault(reason, []).append(path)
    for file in tests.files:
        for check in file.checks:
            if check.lacks:
                why.setdefault(check.lacks, []).append(f"{file.path}::{check.id}")
    return tuple(note for reason, ids in why.items() for note in listed(f"graded for nobody, {reason}", ids))
