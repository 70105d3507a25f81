"""`kata list` and `kata find`: steps and exercises in rows, and where a call or a message is met."""

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.core.errors import KataError
from grader.course import index
from grader.course.catalog import Catalog, Section, load
from grader.course.exercise import Exercise
from grader.records import progress
from grader.records.rungs import MARKS, State

STYLES: dict[State, str] = {
    "done": "green",
    "works": "green",
    "known": "green",
    "failing": "red",
    "todo": "dim",
}
WIDTH = 88
"""Columns, where a window has more: longer lines are hard to read."""

_PLACE, _SLUG = 5, 27
_MOST = 12
"""Entries of one kind that `kata find` shows."""


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
        out.print(*([""] if number else []), head(section), sep="\n", width=width, soft_wrap=False)
        for exercise in section.exercises:
            out.print(row(exercise, seen.get(exercise.slug, "todo")), width=width, soft_wrap=False)


def _about(catalog: Catalog, topic: str) -> Iterator[Section]:
    """Sections with those of their exercises alone that have the topic in a name, a title or a concept."""
    found = index.find(catalog, topic)
    meant = {*found.exercises, *(e for entry in found.concepts for e in entry.exercises)}
    for section in catalog.sections:
        held = tuple(e for e in section.exercises if e in meant)
        if held:
            yield Section(section.name, section.title, held)


def head(section: Section) -> Text:
    """A section's name, and how much it holds."""
    steps = sum(e.is_step for e in section.exercises)
    counts = {"step": steps, "exercise": len(section.exercises) - steps}
    told = ", ".join(f"{n} {name}{'s' if n != 1 else ''}" for name, n in counts.items() if n)
    return Text.assemble((f"{section.name} · {section.title}", "bold"), (f"   {told}", "dim"))


def row(exercise: Exercise, state: State, *, is_focus: bool = False) -> Table:
    """Mark, number, name, title and effort; a title that is too long goes on below itself."""
    about = "  (optional)" if exercise.optional else "  (further)" if exercise.path == "further" else ""
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    style = f"bold {STYLES[state]}" if is_focus else STYLES[state]
    table.add_column(width=3, style=style)
    table.add_column(width=_PLACE - 1, style=style)
    table.add_column(width=_SLUG, style=style, overflow="fold")
    table.add_column(ratio=1, style=style)
    table.add_column(width=len("●●● 000 min"), style=style)
    mark = f"{'>' if is_focus else ' '} {MARKS[state]}"
    table.add_row(mark, exercise.stem.split("_")[0], exercise.slug, exercise.title + about, exercise.effort)
    return table


def find(out: Console, asked: str) -> None:
    """Calls, messages and exercises that have these words, or that explain this message."""
    catalog, width = load(), min(out.width, WIDTH)
    found = index.find(catalog, asked)
    if not found:
        raise KataError(f"nothing here is about {asked!r}; try fewer or other words")
    seen = progress.states(catalog)
    parts: list[RenderableType] = []
    for title, entries in (("messages", found.messages), ("calls", found.calls)):
        parts += _entries(title, entries)
    meant = {*found.exercises, *(e for entry in found.concepts for e in entry.exercises)}
    rows = [_short_row(e, seen) for e in catalog.exercises if e in meant]
    parts += _titled("steps and exercises", rows)
    for part in parts:
        out.print(part, width=width, soft_wrap=False)


def _short_row(exercise: Exercise, seen: Mapping[str, State]) -> RenderableType:
    state = seen.get(exercise.slug, "todo")
    effort = f"   {exercise.effort}" if exercise.effort else ""
    return _in(2, Text(f"{MARKS[state]} {exercise.short} · {exercise.title}{effort}", STYLES[state]))


def _entries(title: str, entries: Iterable[index.Entry]) -> list[RenderableType]:
    rows: list[RenderableType] = []
    for entry in entries:
        where = ", ".join(e.short for e in entry.exercises) or f"the chapter of {entry.section}"
        told = f"   {entry.tells}" if entry.tells else ""
        rows += [_in(2, Text.assemble((entry.name, "cyan"), told)), _in(4, Text(where, "dim"))]
    return _titled(title, rows, each=2)


def _in(indent: int, text: Text) -> RenderableType:
    """Indented, also where it wraps."""
    return Padding(text, (0, 0, 0, indent), expand=False)


def _titled(title: str, rows: list[RenderableType], each: int = 1) -> list[RenderableType]:
    if not rows:
        return []
    left = len(rows) // each - _MOST
    more = [Text(f"  and {left} more", "dim")] if left > 0 else []
    return [Text(title, "bold"), *rows[: _MOST * each], *more]
