"""`kata grade --suite`: an assignment's own tests, on what a class handed in."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from grader.cli.class_table import show, tell
from grader.core.errors import KataError
from grader.core.packed import packed
from grader.core.progress_bar import bar
from grader.course import paths
from grader.course import roster as rosters
from grader.engine import backend
from grader.export import document
from grader.submissions import roll_call, trees
from grader.submissions.class_folder import Classwork, Submission, listed
from grader.submissions.repository import Tree, Wanted
from grader.submissions.trees import Trees
from grader.suite import suite as suites
from grader.suite.grade import ANSWER, Settings
from grader.suite.grade import grade as run
from grader.suite.inventory import Inventory
from grader.suite.reference import Reference
from grader.suite.suite import Suite


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
    asked = suites.read(suite, adapters, handout)
    students = rosters.load(roster)
    reference = Reference(asked.stubs) if solution is None else _solution(solution, asked)
    with bar(err, "reading submissions") as progress:
        found = trees.collect(submissions, _wanted(asked), progress, students)
    handed_in = _classwork(found, asked)
    _expect_some(handed_in, asked)
    work = roll_call.called(handed_in, students, results)
    for note in work.notes:
        tell(f"note: {note}", err)
    settings = Settings(results, jobs or os.cpu_count() or 1, confined)
    with bar(err, "running tests") as progress:
        records, tests = run(work.submissions, asked, reference, settings, progress)
    for_nobody = _for_nobody(tests)
    for note in for_nobody:
        tell(f"note: {note}", err)
    if as_json:
        places = {"results": str(results), "notes": [*work.notes, *for_nobody]}
        out.print_json(data={**document(records, tests.catalog), **places}, ensure_ascii=True)
    else:
        show(records, results, out, tests.catalog, of_suite=True)
    return not any(e.status == "grader_fault" for record in records for e in record.exercises.values())


def expect_none(options: Mapping[str, object], why: str) -> None:
    """Raises KataError, with this reason, where one of the options was given."""
    for name, value in options.items():
        if value is not None:
            raise KataError(f"{name} {why}; leave it out")


def _wanted(suite: Suite) -> Wanted:
    """A repository is where the first adapter lies, else where something lies as in the instructor's."""
    if suite.adapters:
        return Wanted(suite.adapters, suite.is_students)
    names = (path.name for path in suite.root.iterdir() if path.name != suite.place.split("/")[0])
    return Wanted((suite.place, *sorted(names)), suite.is_students, is_needed=False)


def _solution(folder: Path, suite: Suite) -> Reference:
    """Raises KataError where no solution lies there."""
    found = trees.alone(folder, _wanted(suite)).files
    if found is None:
        raise KataError(
            f"--solution {paths.shown(folder)}: {suite.adapters[0]} is not in it; name its folder"
        )
    return Reference(suite.own(found), is_solution=True)


def _classwork(found: Trees, suite: Suite) -> Classwork:
    return Classwork(tuple(_submission(tree, suite) for tree in found.students), found.notes, found.is_one)


def _submission(tree: Tree, suite: Suite) -> Submission:
    own = suite.own(tree.files or {})
    if suite.adapters and own.keys().isdisjoint(suite.adapters):
        problem = f"{suite.adapters[0]} is not in it"
    else:
        problem = suite.unused(own) if tree.files else "holds no files"
    if problem:
        return Submission(tree.student, {}, {ANSWER: problem}, (problem, *tree.notes), late=tree.late)
    return Submission(tree.student, {ANSWER: packed(own)}, {}, tree.notes, late=tree.late)


def _expect_some(work: Classwork, suite: Suite) -> None:
    """Raises KataError where nothing of anybody's would count, as where --adapter was forgotten."""
    problems = [each.problems.get(ANSWER, "") for each in work.submissions]
    if not suite.adapters and problems and all(problems):
        raise KataError(f"{problems[0]}: name each file that students write with --adapter")


def _for_nobody(tests: Inventory) -> tuple[str, ...]:
    """The tests that count for nobody, and why, a note for each reason."""
    why: dict[str, list[str]] = {}
    for file in tests.files:
        for check in file.checks:
            if check.lacks:
                why.setdefault(check.lacks, []).append(f"{file.path}::{check.id}")
    return tuple(note for reason, ids in why.items() for note in listed(f"graded for nobody, {reason}", ids))
