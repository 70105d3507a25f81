"""The verbs of an instructor: `grade` and `export`, and what they are asked for."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from grader.classroom.cli import corrections
from grader.classroom.cli.class_table import show, tell, tell_changes
from grader.classroom.cli.gradebook import Entered, enter, not_entered
from grader.classroom.cli.options import ClassOptions, ExerciseOptions
from grader.classroom.cli.roster import settled
from grader.classroom.export import document
from grader.classroom.submissions import roll_call
from grader.classroom.submissions import times as clock
from grader.classroom.submissions.arrived import arrived, of_before
from grader.classroom.submissions.arrived import notes as news
from grader.classroom.submissions.class_folder import Submission, collect
from grader.classroom.suite.inventory import catalog_of, expect_only
from grader.core.errors import KataError
from grader.core.progress_bar import bar
from grader.course import course_file, policy, variant_table
from grader.course.catalog import Catalog, load
from grader.course.course_file import near
from grader.course.exercise import Exercise
from grader.course.roster import Roster
from grader.records import arrivals
from grader.records.corrections import Corrections
from grader.records.log import Log
from grader.records.records import read_student, within

if TYPE_CHECKING:
    from grader.classroom.grading.grade import StartJudge


def asked_for(only: list[str] | None, assignment: str | None) -> list[str] | None:
    """The exercises and sections that `--only` names, of the assignment if there is one; else None.

    Raises:
        KataError: the course has no such assignment, or it has nothing of what `--only` names.
    """
    if assignment is None:
        return only
    own = {exercise.slug: exercise for exercise in load().assignment(assignment).exercises}
    for name in only or ():
        if not own.keys() & {exercise.slug for exercise in load().select([name])}:
            raise KataError(
                f"--only {name}: {assignment} has nothing of it{near(name, own)}; leave one of them out"
            )
    return [e.slug for e in load().select(only) if e.slug in own] if only else [*own]


def handed_out(only: list[str] | None, assignment: str | None) -> list[str] | None:
    """The same, and where nothing was asked for what the course sets: without assignments, all."""
    own = [e.slug for e in load().set_exercises] if load().course else None
    return asked_for(only, assignment) or own


def tell_of_unfinished(only: list[str] | None, err: Console) -> None:
    """A note for each exercise that is handed out with parts still to write."""
    from grader.authoring.lint import unfinished

    for line in unfinished(load().select(only)):
        tell(f"note: {line}", err)


def grade(options: ClassOptions, asked: ExerciseOptions, out: Console, err: Console) -> bool:
    """Grade a class, print its table, and say where everything lies; or print all of it as JSON.

    True where everything was judged, and entered into the gradebook.
    """
    from grader.classroom.grading.grade import GradingSettings, seed_of
    from grader.classroom.grading.grade import grade as run
    from grader.classroom.grading.store import expect_writable

    catalog, results, only, times = load(), options.results, asked.only, asked.times
    catalog.select(only)  # or there is no such exercise
    expect_only(results, None)
    students = settled(results, options.roster, err)
    whose = asked.variants or course_file.load().variants
    variants = variant_table.read(whose, catalog) if whose else variant_table.NOBODYS
    gradebook = None if asked.gradebook == corrections.WITHOUT else asked.gradebook
    if times is not None and gradebook is None:
        raise KataError("--times: what lateness costs is the gradebook's business; name one with --gradebook")
    with bar(err, "reading submissions") as progress:
        handed_in = collect(options.submissions, variants.knowing(catalog), progress, students)
    work = roll_call.called(handed_in, students, results, (e.slug for e in catalog.exercises))
    chosen = to_judge(work.submissions, catalog, only, results)
    known = arrivals.kept(results, students)
    table = clock.read(times, work.submissions, chosen, catalog, students) if times else clock.NOTHING
    came = arrived(known, work.submissions, chosen, table.times)
    work = replace(work, notes=work.notes + table.notes + news(known, came, table.times))
    for note in work.notes:
        tell(f"note: {note}", err)
    judges = None if asked.cluster is None else _workers(asked.cluster, options, err)
    given, log = policy.load(), Log(results, students)
    expect_writable(results)
    arrivals.keep(results, came)
    seed, jobs = seed_of(results, asked.seed), options.jobs or os.cpu_count() or 1
    settings = GradingSettings(results, seed, jobs, options.confined, judges, given, variants)
    with bar(err, "judging answers") as progress:
        records = run(work.submissions, chosen, settings, progress, log)
    judged = [exercise.slug for exercise in chosen]
    if not options.as_json:
        told = records if only is None else [within(r, judged) for r in records]
        show(told, results, out, catalog)
    if gradebook is None:
        entered = Entered(notes=not_entered(results, log))
    else:
        entered = enter(gradebook, results, records, work, came, judged, students, log, err)
    later = (*of_before(log.changes, known, came, chosen), *entered.notes)
    if options.as_json:
        notes = [*work.notes, *later]
        places = {"results": str(results), "gradebook": entered.shown}
        after = {"problems": entered.problems, "notes": notes, "changes": [c.to_json() for c in log.changes]}
        out.print_json(data={**document(records, catalog, students), **places, **after}, ensure_ascii=True)
    else:
        if entered.shown is not None:
            out.print(f"gradebook: {entered.shown}")
        for note in later:
            tell(note, out)
        tell_changes(log.changes, out)
    faults = any(e.status == "grader_fault" for record in records for e in record.exercises.values())
    return not entered.problems and not faults


def _workers(address: str, options: ClassOptions, err: Console) -> "StartJudge":
    """A judge on a cluster, to be started when there is something to judge."""
    from grader.classroom.cluster.parent import Cluster
    from grader.classroom.cluster.roster import ClusterRoster

    jobs, confined = options.jobs or 0, options.confined
    return lambda exercises: Cluster(ClusterRoster(address, exercises, jobs, confined, err.print))


def to_judge(
    submissions: tuple[Submission, ...], catalog: Catalog, only: list[str] | None, results: Path
) -> tuple[Exercise, ...]:
    """What was asked for, else the assignments that anybody handed in: nobody is judged on what was not set.

    Of a course that has assignments, these are its own.

    Where nobody handed in anything, those are the assignments that these students were judged on before. A
    step that weighs nothing comes along where somebody wrote it, or where only steps were asked for.
    """
    handed_in = {slug for s in submissions for slug in s.meant}
    begun = {e.slug for e in catalog.exercises if e.is_extra and any(s.holds(e) for s in submissions)}
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


def export(
    results: Path,
    format: str,
    to: Path | None,
    corrections: Corrections,
    assignment: str | None,
    roster: Roster,
    err: Console,
) -> None:
    """Write results as a table, to a file or to standard output, or as a file for each student."""
    from grader.classroom import export as exporting

    catalog = catalog_of(results)
    own = catalog.assignment(assignment) if assignment else None
    with bar(err, "reading results") as progress:
        exporting.export(results, format, to, catalog, progress, corrections, own, roster)
