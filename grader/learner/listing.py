"""`kata list`: steps and exercises in rows."""

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.core.errors import KataError
from grader.course.catalog import Catalog, Section, load
from grader.course.exercise import Exercise
from grader.course.lookup import finding
from grader.protocol.statuses import STATUSES, State
from grader.records import progress
from grader.records.counts import by_kind, counting

STYLES: dict[State, str] = {
    "done": "green",
    "works": "green",
    "known": "green",
    "failing": "red",
    "todo": "dim",
}
WIDTH = 88
"""Columns, where a window has more: longer lines are hard to read."""

NARROW = 60
"""Columns below which a row has no effort: a title would be a letter wide."""

_PLACE, _SLUG, _EFFORT = 5, 27, len("●●● 000 min")


def show(out: Console, topic: str = "") -> None:
    """All sections, one, or what a topic is about."""
    catalog, width = load(), min(out.width, WIDTH)
    seen = progress.states(catalog)
    sections = [s for s in catalog.sections if s.is_called(topic)] if topic else catalog.sections
    if not sections:
        sections = tuple(_about(catalog, topic))
    if not sections:
        raise KataError(f"nothing is about {topic!r}; `kata find {topic}` looks into chapters as well")
    for number, section in enumerate(sections):
        out.print(*([""] if number else []), head(section, seen), sep="\n", width=width, soft_wrap=False)
        for exercise in section.exercises:
            out.print(row(exercise, seen.get(exercise.slug, "todo"), width), width=width, soft_wrap=False)


def _about(catalog: Catalog, topic: str) -> Iterator[Section]:
    """Sections with those of their exercises alone that have the topic in a name, a title or a concept."""
    meant = finding.about(catalog, topic)
    for section in catalog.sections:
        held = tuple(e for e in section.exercises if e in meant)
        if held:
            yield Section(section.name, section.title, held)


def head(section: Section, seen: Mapping[str, State]) -> Text:
    """A section's name, and how much of it is done."""
    told = [f"{count} {kind}" for kind, count in by_kind(section.exercises, seen).items()]
    optional = len(section.exercises) - len(counting(section.exercises))
    told += [f"{optional} optional"] if optional else []
    return Text.assemble((f"{section.name} · {section.title}", "bold"), (f"   {', '.join(told)}", "dim"))


def row(exercise: Exercise, state: State, width: int, *, is_focus: bool = False) -> Table:
    """Mark, number, name, title and effort; a title that is too long goes on below itself.

    In a window of fewer columns than `NARROW` the name takes what it needs, and the effort is left out.
    """
    about = "  (optional)" if exercise.optional else "  (further)" if exercise.path == "further" else ""
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    style = f"bold {STYLES[state]}" if is_focus else STYLES[state]
    table.add_column(width=3, style=style)
    table.add_column(width=_PLACE - 1, style=style)
    table.add_column(width=len(exercise.slug) if width < NARROW else _SLUG, style=style, overflow="fold")
    table.add_column(ratio=1, style=style)
    mark = f"{'>' if is_focus else ' '} {STATUSES[state].mark}"
    cells = [mark, exercise.number, exercise.slug, exercise.title + about]
    if width >= NARROW:
        table.add_column(width=_EFFORT, style=style)
        cells.append(exercise.effort)
    table.add_row(*cells)
    return table
