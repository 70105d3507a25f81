"""The map of the course, as `kata status` shows it: how far each section is, and where to go on."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from rich.console import Console
from rich.table import Table

from grader.course import paths
from grader.course.catalog import Catalog, Section, load
from grader.course.exercise import Exercise
from grader.records import practice, progress
from grader.records.rungs import LEGEND, MARKS, SETTLED, State

HIDDEN = "hidden checks grade too: ✓ says that those pass that are here"


def show(out: Console) -> None:
    """The map of all sections, and where to go on."""
    catalog = load()
    seen = progress.states(catalog)
    path = progress.path_of(catalog, seen)
    out.print(course(catalog, seen))
    legend = LEGEND
    if any(e.path == "further" for e in catalog.exercises):
        legend += "     core | further"
    out.print(legend, style="dim", markup=False)
    if has_steps(catalog):
        out.print(f"path {path}   (kata path)", style="dim", markup=False)
    if shown := [e.slug for e in catalog.exercises if e.slug in progress.revealed()]:
        out.print(f"solution revealed: {', '.join(shown)}", style="dim", markup=False)
    if paths.is_release():
        out.print(HIDDEN, style="dim", markup=False)
    if counts := practice.counts(date.today()):
        out.print(counts, style="dim", markup=False)
    first = progress.following(catalog, seen)
    if first is None:
        out.print(progress.end_of(catalog, seen, path), markup=False)
        return
    file = paths.shown(first.file("exercises"))
    out.print(f"next: {first.slug}   {file}   (kata hint {first.slug})", markup=False)


def data() -> dict[str, Any]:
    """The map for scripts: every section, step and exercise with its state, the path, and where to go on."""
    catalog = load()
    seen, shown = progress.states(catalog), progress.revealed()
    path = progress.path_of(catalog, seen)

    def row(e: Exercise) -> dict[str, Any]:
        place = {"slug": e.slug, "title": e.title, "path": e.path, "file": paths.shown(e.file("exercises"))}
        about = {"optional": e.optional} if e.is_step else {"difficulty": e.difficulty, "minutes": e.minutes}
        return place | about | {"state": seen[e.slug], "revealed": e.slug in shown}

    sections = [
        {
            "name": section.name,
            "title": section.title,
            "steps": [row(e) for e in section.exercises if e.is_step],
            "exercises": [row(e) for e in section.exercises if not e.is_step],
        }
        for section in catalog.sections
    ]
    first = progress.following(catalog, seen)
    way = {"name": path.name, "section": path.section or None}
    return {"sections": sections, "path": way, "next": first and first.slug}


def course(catalog: Catalog, seen: Mapping[str, State]) -> Table:
    """The map: a row for each section, how many of its steps and exercises, a mark for each exercise."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    with_steps = has_steps(catalog)
    if with_steps:
        table.add_row("", "", "[dim]steps", "", "[dim]exercises")
    for section in catalog.sections:
        steps = [e for e in section.exercises if e.is_step and not e.optional]
        exercises = [e for e in section.exercises if not e.is_step]
        counts = [counted(some, seen) if some else "" for some in (steps, exercises)]
        marks = _marks(section, seen) or ("" if steps else "to come")
        table.add_row(section.name, section.title, *(counts if with_steps else counts[1:]), marks)
    return table


def has_steps(catalog: Catalog) -> bool:
    """Whether this course, or what was released of it, has first steps."""
    return any(e.is_step for e in catalog.exercises)


def counted(exercises: Iterable[Exercise], seen: Mapping[str, State]) -> str:
    """How many nobody need come back to, and how many of an exercise's are done where not all are."""
    states = [seen.get(e.slug, "todo") for e in exercises]
    settled = sum(state in SETTLED for state in states)
    done = f", {states.count('done')} done" if "works" in states else ""
    return f"{settled}/{len(states)}{done}"


def _marks(section: Section, seen: Mapping[str, State]) -> str:
    parts = [
        "".join(MARKS[seen.get(e.slug, "todo")] for e in section.exercises if e.path == path)
        for path in ("core", "further")
    ]
    return " | ".join(part for part in parts if part)
