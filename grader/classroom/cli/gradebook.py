"""What a run enters into a gradebook, and what there is to say of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from grader.classroom.cli.class_table import tell
from grader.classroom.export import ELSEWHERE, LOOK_AGAIN
from grader.classroom.submissions.class_folder import Classwork, listed
from grader.core.progress_bar import bar
from grader.course.catalog import Catalog, load
from grader.course.roster import Roster
from grader.records.arrivals import Arrivals
from grader.records.corrections import NONE, Corrections
from grader.records.log import Log
from grader.records.records import StudentRecord, others, rescaled, within


@dataclass(frozen=True)
class Entered:
    """What could not be entered, a line each; where the rest is; and what to know of it."""

    problems: Sequence[str] = ()
    shown: str | None = None
    notes: tuple[str, ...] = ()


def enter(
    url: str,
    results: Path,
    records: Sequence[StudentRecord],
    work: Classwork,
    came: Arrivals,
    judged: Collection[str],
    roster: Roster,
    log: Log,
    err: Console,
) -> Entered:
    """Enter the records, and of a course what formgrader shows of them; note corrections in the log.

    All students of the results are entered where points have changed, or into another gradebook than before.
    """
    from grader.classroom.nbgrader import corrections, former, formgrader, gradebook, source_points
    from grader.classroom.nbgrader.connection import is_kept, keep, kept, place
    from grader.classroom.nbgrader.extensions import Extensions

    catalog = load()
    where = place(url)
    for line in former.settle(url, roster):
        tell(f"note: {line}", err)
    before = corrections.read(url, catalog) if where.may_exist else NONE
    is_course = formgrader.is_course(where.folder, catalog)
    is_other = not is_kept(results, where)
    is_renewed = bool(before.worth) or (is_course and source_points.are_old(where.folder, catalog))
    earlier = _earlier(results, records, catalog) if is_other or is_renewed else []
    everyone = [*records, *earlier]
    with bar(err, "writing the gradebook") as progress:
        granted = Extensions(results, roster)
        problems = gradebook.write(url, everyone, catalog, came, progress, roster, granted)
    for problem in problems:
        err.print(problem)
    notes: tuple[str, ...] = ()
    if is_other and (other := kept(results)):
        notes += (f"results were in the gradebook {other} before: what people entered there is there alone",)
    keep(results, where)
    after = corrections.read(url, catalog)
    log.entered(after)
    log.keep()
    notes += listed("points changed in the gradebook", _revalued(before, after, catalog))
    if earlier:
        notes += listed("entered from earlier runs, too", [record.student for record in earlier])
    notes += listed(ELSEWHERE, [*after.elsewhere]) + listed(LOOK_AGAIN, after.to_look_at)
    if is_course:
        with bar(err, "writing what formgrader shows") as progress:
            times = gradebook.times(url)
            shown = (where.folder, work.submissions, everyone, judged, catalog, times, progress)
            notes += formgrader.write(*shown)
    return Entered(problems, where.shown, notes)


def not_entered(results: Path, log: Log) -> tuple[str, ...]:
    """A note where scores have changed and the gradebook of these results does not know it."""
    from grader.classroom.nbgrader.connection import kept

    book = kept(results) if log.changes else None
    return (f"the gradebook {book} has the scores of before: add --gradebook {book}",) if book else ()


def _earlier(results: Path, records: Sequence[StudentRecord], catalog: Catalog) -> list[StudentRecord]:
    """The students of earlier runs, with the points of today, and without exercises that are no more."""
    points = {exercise.slug: exercise.points for exercise in catalog.exercises}
    return [within(rescaled(record, points), points) for record in others(results, records)]


def _revalued(before: Corrections, after: Corrections, catalog: Catalog) -> list[str]:
    return [
        f"{e.slug} {before.worth[e.slug]:g} → {e.points:g}"
        for e in catalog.exercises
        if e.slug in before.worth and e.slug not in after.worth
    ]
