"""The verbs of an instructor: `grade` and `export`, and what they are asked for."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from grader.cli.class_table import show, tell
from grader.core.errors import KataError
from grader.core.progress_bar import bar
from grader.course import policy
from grader.course import roster as rosters
from grader.course.catalog import Catalog, load
from grader.course.exercise import Exercise
from grader.export import document
from grader.records.corrections import Corrections
from grader.records.records import StudentRecord, read_student, within
from grader.submissions import roll_call
from grader.submissions import times as clock
from grader.submissions.class_folder import Classwork, Submission, collect
from grader.suite.inventory import catalog_of, expect_only

if TYPE_CHECKING:
    from grader.grading.grade import StartJudge


def asked_for(only: list[str] | None, assignment: str | None) -> list[str] | None:
    """The exercises and sections that `--only` names, or the exercises of the assignment; else None.

    Raises:
        KataError: both were said, or the course has no such assignment.
    """
    if assignment is None:
        return only
    if only:
        raise KataError("--assignment and --only name different things; say one of them")
    return [exercise.slug for exercise in load().assignment(assignment).exercises]


def handed_out(only: list[str] | None, assignment: str | None) -> list[str] | None:
    """The same, and where nothing was asked for what the course sets: without assignments, all."""
    own = [e.slug for e in load().set_exercises] if load().course else None
    return asked_for(only, assignment) or own


def tell_of_unfinished(only: list[str] | None, err: Console) -> None:
    """A note for each exercise that is handed out with parts still to write."""
    from grader.authoring.lint import unfinished

    for line in unfinished(load().select(only)):
        tell(f"note: {line}", err)


def grade(
    submissions: Path,
    *,
    results: Path,
    jobs: int | None,
    seed: int | None,
    only: list[str] | None,
    gradebook: str | None,
    cluster: str | None,
    confined: bool,
    as_json: bool,
    roster: Path | None,
    times: Path | None,
    out: Console,
    err: Console,
) -> bool:
    """Grade a class, print its table, and say where everything lies; or print all of it as JSON.

    True where everything was judged, and entered into the gradebook.
    """
    from grader.grading.grade import Settings, seed_of
    from grader.grading.grade import grade as run

    catalog = load()
    catalog.select(only)  # or there is no such exercise
    expect_only(results, None)
    students = rosters.load(roster)
    if times is not None and gradebook is None:
        raise KataError("--times: what lateness costs is the gradebook's business; name one with --gradebook")
    with bar(err, "reading submissions") as progress:
        work = roll_call.called(collect(submissions, catalog, progress, students), students, results)
    if times is not None:
        work = clock.entered(work, times, catalog, students)
    for note in work.notes:
        tell(f"note: {note}", err)
    chosen = to_judge(work.submissions, catalog, only, results)
    judges = None if cluster is None else _workers(cluster, jobs, confined, err)
    given = policy.load()
    settings = Settings(results, seed_of(results, seed), jobs or os.cpu_count() or 1, confined, judges, given)
    with bar(err, "judging answers") as progress:
        records = run(work.submissions, chosen, settings, progress)
    judged = {exercise.slug for exercise in chosen}
    if not as_json:
        asked = records if only is None else [within(r, (e.slug for e in chosen)) for r in records]
        show(asked, results, out, catalog)
    problems: list[str] = []
    shown: str | None = None
    if gradebook is not None:
        problems, shown = _write_gradebook(gradebook, results, records, work, judged, students, err)
    if as_json:
        places = {"results": str(results), "gradebook": shown, "problems": problems, "notes": work.notes}
        out.print_json(data={**document(records, catalog, students), **places}, ensure_ascii=True)
    elif shown is not None:
        out.print(f"gradebook: {shown}", markup=False)
    faults = any(e.status == "grader_fault" for record in records for e in record.exercises.values())
    return not problems and not faults


def _workers(address: str, jobs: int | None, confined: bool, err: Console) -> "StartJudge":
    """A judge on a cluster, to be started when there is something to judge."""
    from grader.cluster.parent import Cluster

    return partial(Cluster, address, jobs=jobs or 0, confined=confined, tell=partial(err.print, markup=False))


def to_judge(
    submissions: tuple[Submission, ...], catalog: Catalog, only: list[str] | None, results: Path
) -> tuple[Exercise, ...]:
    """What was asked for, else the assignments that anybody handed in: nobody is judged on what was not set.

    Of a course that has assignments, these are its own.

    Where nobody handed in anything, those are the assignments that these students were judged on before. A
    step that weighs nothing comes along where somebody wrote it, or where only steps were asked for.
    """
    handed_in = {slug for s in submissions for slug in s.answers}
    begun = {e.slug for e in catalog.exercises if e.is_extra and any(_is_begun(e, s) for s in submissions)}
    if not handed_in:
        before = (read_student(results / f"{s.student}.json") for s in submissions)
        handed_in = {slug for record in before if record is not None for slug in record.exercises}
        begun = handed_in
    for name in only or ():
        meant = catalog.select([name])
        begun |= {e.slug for e in meant} if all(e.is_step for e in meant) else set()
    asked = catalog.select(only) if only else catalog.set_exercises
    chosen = [e for e in asked if e.slug in begun or not e.is_extra]
    was_set = {e.assignment for e in chosen if e.slug in handed_in and not e.is_extra}
    whole = [e for e in chosen if e.assignment in was_set or e.slug in begun]
    return tuple(chosen if only else whole or chosen)


def _is_begun(exercise: Exercise, submission: Submission) -> bool:
    answer = submission.answers.get(exercise.slug)
    return answer is not None and not exercise.is_start(answer)


def _write_gradebook(
    url: str,
    results: Path,
    records: list[StudentRecord],
    work: Classwork,
    judged: set[str],
    roster: rosters.Roster,
    err: Console,
) -> tuple[list[str], str]:
    """Enter everything; what could not be entered, a line each, and the gradebook's address."""
    from grader.nbgrader import formgrader, gradebook
    from grader.nbgrader.connection import keep, place
    from grader.nbgrader.extensions import Extensions
    from grader.nbgrader.lateness import arrival

    catalog = load()
    arrivals = {submission.student: arrival(submission, catalog) for submission in work.submissions}
    with bar(err, "writing the gradebook") as progress:
        granted = Extensions(results)
        problems = gradebook.write(url, records, catalog, arrivals, progress, roster, granted)
    for problem in problems:
        err.print(problem, markup=False)
    where = place(url)
    keep(results, where)
    if formgrader.is_course(where.folder, catalog):
        with bar(err, "writing what formgrader shows") as progress:
            times = gradebook.times(url)
            formgrader.write(where.folder, work.submissions, records, judged, catalog, times, progress)
    return problems, where.shown


def export(
    results: Path,
    format: str,
    to: Path | None,
    corrections: Corrections,
    assignment: str | None,
    roster: Path | None,
    err: Console,
) -> None:
    """Write results as a table, to a file or to standard output, or as a file for each student."""
    from grader import export as exporting

    catalog = catalog_of(results)
    own = catalog.assignment(assignment) if assignment else None
    students = rosters.load(roster)
    with bar(err, "reading results") as progress:
        exporting.export(results, format, to, catalog, progress, corrections, own, students)
