"""`kata again`: an exercise solved a while ago, from its start; at the end, then and now side by side."""

from datetime import date
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import Catalog, load
from grader.course.exercise import Exercise
from grader.course.statement import Statement
from grader.learner import commands
from grader.learner.watch.folding import Python
from grader.protocol.statuses import SOLVED
from grader.records import capstones, practice, progress
from grader.records.practice import Again


def begin(name: str = "") -> Exercise:
    """Put a start back and keep what was there: of the exercise named, or of the one that is due.

    Without a name, one that was put back and is not solved yet goes on.

    Raises:
        KataError: nothing is due, or the one named was not solved.
    """
    catalog, today = load(), date.today()
    seen = progress.states(catalog)
    open_ = practice.begun()
    if not name and open_ and open_.slug in seen:
        return catalog.exercise(open_.slug)
    exercise = catalog.find(name) if name else practice.choose(catalog.exercises, seen, today)
    if seen[exercise.slug] not in SOLVED:
        raise KataError(f"{exercise.slug} is not solved yet; `kata watch {exercise.slug}` goes there")
    kept = commands.put_back(capstones.mine(exercise))
    if kept is None:
        raise KataError(f"{paths.shown(exercise.file('exercises'))} is at its start already")
    practice.begin(exercise.slug, kept.name, today)
    return exercise


def finished(catalog: Catalog) -> Again | None:
    """What was put back and is solved again."""
    open_ = practice.begun()
    return open_ if open_ and progress.states(catalog).get(open_.slug) in SOLVED else None


def compared(again: Again) -> RenderableType:
    """The answer of then and the one of now, side by side, without the statement; it is done with then."""
    practice.end()
    known = practice.history().get(again.slug)
    before = [day for day in known.days if day < again.since] if known else []
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0))
    for head in (f"then{f', {before[-1]}' if before else ''}", "now"):
        table.add_column(head, ratio=1, header_style="bold")
    exercise = load().exercise(again.slug)
    places = (commands.BACKUPS / again.then, exercise.place("exercises"))
    table.add_row(*(_code(exercise, place) for place in places))
    return table


def _code(exercise: Exercise, place: Path) -> RenderableType:
    gone = f"# {place.name} is not there any more"
    source = exercise.text(exercise.read(place)) if place.exists() else gone
    return Python(Statement.of(source).code or source)
