"""The map of the course, as `kata status` shows it: how far each section is, and where to go on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

from grader.course import missing, paths
from grader.course.catalog import Catalog, Section, load
from grader.course.exercise import Exercise
from grader.learner.listing import NARROW
from grader.protocol.statuses import LEGEND, STATUSES, State
from grader.records import practice, progress
from grader.records.counts import by_kind

MARKS = 20
"""How many marks stand in a line of the map; more go below, so that titles stay whole in 80 columns."""

HIDDEN = "hidden checks grade too: ✓ says that those pass that are here"


def show(out: Console) -> None:
    """The map of all sections, and where to go on."""
    catalog = load()
    seen = progress.states(catalog)
    path = progress.path_of(catalog, seen)
    out.print(CourseMap(catalog, seen))
    legend = LEGEND
    if any(e.path == "further" for e in catalog.exercises):
        legend += "     core | further"
    out.print(legend, style="dim")
    if has_steps(catalog):
        out.print(f"path {path}", style="dim")
    if shown := [e.slug for e in catalog.exercises if e.slug in progress.revealed()]:
        out.print(f"solution revealed: {', '.join(shown)}", style="dim")
    if paths.is_release():
        out.print(HIDDEN, style="dim")
    if counts := practice.counts(date.today()):
        out.print(counts, style="dim")
    for line in filter(None, map(missing.renamed, catalog.exercises)):
        out.print(line, style="yellow")
    first = progress.following(catalog, seen)
    if first is None:
        out.print(progress.end_of(catalog, seen, path))
        return
    file = paths.shown(first.file("exercises"))
    out.print(f"next: {first.slug}   {file}", soft_wrap=False)  # where it is long, the file has a line


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


@dataclass(frozen=True)
class CourseMap:
    """A row for each section: how many of its steps and exercises, a mark for each exercise.

    `MARKS` of these stand in a line. In a window of fewer columns than `NARROW` a section has its number
    and its title.
    """

    catalog: Catalog
    seen: Mapping[str, State]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        is_narrow, steps = options.max_width < NARROW, has_steps(self.catalog)
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", show_header=steps)
        for name in ("", "", "steps" if steps else "", ""):
            table.add_column(name, no_wrap=len(table.columns) != 1, overflow="fold")  # the title may take two
        table.add_column("exercises", max_width=MARKS, overflow="fold")  # and so may many marks
        for section in self.catalog.sections:
            counts = by_kind(section.exercises, self.seen)
            marks = _marks(section, self.seen) or ("" if "steps" in counts else "to come")
            kinds = (counts.get(kind, "") for kind in ("steps", "exercises"))
            name = section.short if is_narrow else section.name
            table.add_row(name, section.title, *kinds, marks)
        yield table


def has_steps(catalog: Catalog) -> bool:
    """Whether this course, or what was released of it, has first steps."""
    return any(e.is_step for e in catalog.exercises)


def _marks(section: Section, seen: Mapping[str, State]) -> str:
    parts = [
        "".join(STATUSES[seen.get(e.slug, "todo")].mark for e in section.exercises if e.path == path)
        for path in ("core", "further")
    ]
    return " | ".join(part for part in parts if part)
