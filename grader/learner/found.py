"""`kata find`: what to look at for a symptom, what a message means, and where calls and ideas are met."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.core.errors import KataError
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.course.lookup.entries import Entry, Kind
from grader.course.lookup.finding import Lookup
from grader.course.lookup.symptoms import Symptom
from grader.learner.listing import NARROW, STYLES, WIDTH
from grader.protocol.statuses import STATUSES, State
from grader.records import progress

_TITLES: dict[Kind, str] = {
    "symptom": "symptoms like it",
    "message": "messages",
    "call": "calls",
    "pitfall": "pitfalls",
}
_MOST: dict[Kind, int] = {"symptom": 3, "message": 3, "call": 4, "pitfall": 2, "exercise": 7}
"""Entries of each kind that are shown: the rest is less likely than these."""
MOST_PASTED = 1_000_000
"""Letters that are read of what was piped or pasted."""
_FULL = 3
"""Places of the ranking in which a symptom is told in full, and not by its name alone."""


def show(out: Console, asked: str) -> None:
    """What these words or this message are about, the likeliest first.

    Raises:
        KataError: nothing has any of the words, nor one spelt like them.
    """
    catalog, width = load(), min(out.width, WIDTH)
    found = Lookup(catalog).find(asked)
    if not found.entries:
        raise KataError(f"nothing here is about {asked!r}; try other words, or the last line of the error")
    parts: list[RenderableType] = []
    if found.instead:
        parts += [Text(f"nothing here is about {asked!r}; the nearest, by {found.instead!r}:", "dim"), ""]
    seen = progress.states(catalog)
    for part in (*parts, *_told(found.entries, seen, width)):
        out.print(part, width=width, soft_wrap=False)


def _told(entries: Sequence[Entry], seen: Mapping[str, State], width: int) -> Iterator[RenderableType]:
    """Block by block: a symptom in full, what else there is of each kind, and where it is met."""
    first = next((e for e in entries[:_FULL] if e.symptom), None)
    for kind in dict.fromkeys(entry.kind for entry in entries):
        if kind == "symptom" and first and first.symptom:
            yield from (*_symptom(first.symptom), Text())
        held = [e for e in entries if e.kind == kind and e is not first][: _MOST[kind]]
        if held and kind != "exercise":
            yield from (
                Text(_TITLES[kind], "bold"),
                *(part for entry in held for part in _entry(entry)),
                Text(),
            )
    yield Text("steps and exercises", "bold")
    yield _rows(list(_exercises(entries, first))[: _MOST["exercise"]], seen, width)


def _symptom(symptom: Symptom) -> Iterator[RenderableType]:
    """What to look at, in order, and what to do about what is seen there."""
    yield Text.assemble((symptom.name, "bold"), ("   look at, in order:", "dim"))
    for number, check in enumerate(symptom.checks, start=1):
        yield _in(1, Text.assemble((f"{number} ", "bold"), (check.look, "cyan")))
        yield _in(3, Text(check.tells))
        yield _in(3, Text(f"→ {check.do}"))


def _entry(entry: Entry) -> Iterator[RenderableType]:
    where = ", ".join(e.short for e in entry.exercises) or f"the chapter of {entry.section}"
    if entry.symptom:
        yield _in(2, Text(entry.name))
        return
    told = f"   {entry.tells}" if entry.tells else ""
    yield from (_in(2, Text.assemble((entry.name, "cyan"), told)), _in(4, Text(where, "dim")))


def _exercises(entries: Iterable[Entry], first: Entry | None) -> Iterator[Exercise]:
    """Where the likeliest are met: first those of the symptom that is told in full."""
    held = [*(first.exercises if first else ()), *(e for entry in entries for e in entry.exercises)]
    yield from dict.fromkeys(held)


def _rows(exercises: Sequence[Exercise], seen: Mapping[str, State], width: int) -> Table:
    """Mark, section, name, title and effort: a title that is too long goes on below itself.

    In a window of fewer columns than `NARROW` the name stands without its title.
    """
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    for _ in ("mark", "section", "name"):
        table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(no_wrap=True)
    for exercise in exercises:
        state = seen.get(exercise.slug, "todo")
        section = exercise.section.split("_")[0]
        title = exercise.title if width >= NARROW else ""
        mark = f"  {STATUSES[state].mark}"
        table.add_row(mark, section, exercise.slug, title, exercise.effort, style=STYLES[state])
    return table


def _in(indent: int, text: Text) -> RenderableType:
    """Indented, also where it wraps."""
    return Padding(text, (0, 0, 0, indent), expand=False)
