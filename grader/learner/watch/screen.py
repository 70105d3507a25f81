"""What `kata watch` shows: pure functions from records to text.

A verdict is laid out when it is drawn, for the window as it is then, and rows are counted as they wrap: where
room is short, titles become a count before anything is cut that says how to go on.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

from grader.course import paths
from grader.course.catalog import Catalog, Exercise, Section
from grader.learner.outcome import Lesson
from grader.records.progress import HIDDEN, MARKS, State

STYLES: dict[State, str] = {"done": "green", "failing": "red", "todo": "dim"}
KEYS = "[n]ext  [h]int  [s]olution  [l]ist  run [a]ll  [r]eset  [e]dit  [q]uit"
NO_KEYS = "no single keys can be read here: Ctrl-C ends, `kata hint` and the other verbs do the rest"
MOST_PRINTED = 10
MOST_OTHERS = 6
LEAST = 3
"""Rows of a verdict that are shown however low the window is."""


@dataclass(frozen=True)
class Room:
    """How much can be shown; without a height, anything."""

    console: Console
    options: ConsoleOptions

    @property
    def rows(self) -> int:
        return self.options.height or 1000

    def taken(self, parts: Sequence[RenderableType]) -> int:
        """How many rows these take, as they wrap."""
        return len(self._lines(parts))

    def first(self, parts: Sequence[RenderableType], rows: int) -> list[RenderableType]:
        """The first of these, as many as fit."""
        count = len(parts)
        while count and self.taken(parts[:count]) > rows:
            count -= 1
        return list(parts[:count])

    def cut(self, parts: Sequence[RenderableType], rows: int) -> RenderableType:
        """The first rows of these, and how many more there are where they do not fit."""
        lines = self._lines(parts)
        kept = lines if len(lines) <= rows else lines[: rows - 1]
        rest = [Text(f"… {len(lines) - len(kept)} lines more", "dim")] if kept is not lines else []
        return Group(Segments(s for line in kept for s in (*line, Segment.line())), *rest)

    def _lines(self, parts: Sequence[RenderableType]) -> list[list[Segment]]:
        # Not `Console.render_lines`, which fills up what is lower than the window.
        segments = (s for part in parts for s in self.console.render(part, self._options_for(part)))
        width = self.options.max_width
        return list(Segment.split_and_crop_lines(segments, width, include_new_lines=False, pad=False))

    def _options_for(self, part: RenderableType) -> ConsoleOptions:
        return self.options if isinstance(part, Fitted) else self.options.reset_height()


@dataclass(frozen=True)
class Fitted:
    """What is laid out when it is drawn."""

    lay: Callable[[Room], Sequence[RenderableType]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield from self.lay(Room(console, options))


def lesson(found: Lesson, catalog: Catalog, *, has_keys: bool = True) -> RenderableType:
    """The verdict on one exercise."""
    if found.state == "done":
        key = "   press n" if has_keys else ""
        return Fitted(lambda room: _passed(found, catalog, key, room))
    if found.state == "todo":
        return Fitted(lambda room: _todo(found, room))
    return Fitted(lambda room: _failed(found, room))


def _todo(found: Lesson, room: Room) -> list[RenderableType]:
    if not found.rest:
        first = [todo(found.exercise)]
        first += _not_here(found, room, room.rows - room.taken(first))
        return [*first, *_printed(found, room, room.rows - room.taken(first))]
    head = Text.assemble((f"· {found.exercise.slug}", "bold yellow"), f" · {found.rest}")
    left = room.rows - room.taken([head])
    printed = _printed(found, room, left - 1)
    return [head, *_checks_passed(found, room, left - room.taken(printed)), *printed]


def todo(exercise: Exercise) -> RenderableType:
    """An exercise that waits to be written: what it is about, and where its statement is."""
    file = exercise.file("exercises")
    parts: list[RenderableType] = [
        Text.assemble((f"· {exercise.slug}", "bold yellow"), f" · {exercise.title}")
    ]
    if summary := _first_sentence(file.read_text("utf-8", "replace") if file.exists() else ""):
        parts.append(Text(f"  {summary}"))
    parts.append(Text(f"\nstill to do: open {paths.shown(file)}, read the statement, write, save"))
    return Group(*parts)


def _first_sentence(source: str) -> str:
    """The first paragraph of a module's docstring, on one line."""
    try:
        text = ast.get_docstring(ast.parse(source)) or ""
    except (SyntaxError, ValueError):
        return ""
    return " ".join(text.split("\n\n")[0].split())


def _failed(found: Lesson, room: Room) -> list[RenderableType]:
    told, others = _told(found)
    fail = "fail" if len(others) > 1 else "fails"
    more: list[RenderableType] = [Text(f"  ✗ {len(others)} more {fail}", "red")] if others else []
    passed = [Text(f"  ✓ {len(found.passed)} passed", "green")] if found.passed else []
    if found.unwritten:
        passed.append(Text(f"  · still to write: {', '.join(found.unwritten)}", "yellow"))
    counts = len(more) + len(passed)
    least = _printed(found, room, LEAST + 2)  # which somebody wants to see now
    first = room.cut(told, max(room.rows - counts - room.taken(least), LEAST))
    left = room.rows - room.taken([first]) - counts
    printed = _printed(found, room, left)
    left -= room.taken(printed)
    if others and left > LEAST:
        head = Text(f"\nand {len(others)} more:", "dim")
        rows = min(MOST_OTHERS, left - 1)
        more = [head, *_fitting([f"  ✗ {title}" for title in others], "", "red", room, rows)]
    return [first, *more, *passed, *printed]


def _told(found: Lesson) -> tuple[list[RenderableType], list[str]]:
    """What is told first, and the titles of what else fails."""
    if found.trouble:
        file = paths.shown(found.exercise.file("exercises"))
        where = [] if f"{file}:" in found.trouble else [Text(f"  {file}", "dim")]
        return [Text(f"✗ {found.exercise.slug}", "bold red"), Text(found.trouble), *where], []
    first = found.failures[0]
    head, *body = first.feedback.told(found.exercise, first.title)
    others = list(dict.fromkeys(f.title for f in found.failures if f.title != first.title))
    return [Text(f"✗ {head}", "bold red"), Text("\n".join(body))], others


def _passed(found: Lesson, catalog: Catalog, key: str, room: Room) -> list[RenderableType]:
    exercise = found.exercise
    head = Text(f"✓ {exercise.slug}", "bold green")
    after: list[RenderableType] = [Text("")]
    if paths.is_release():
        after.append(Text(HIDDEN, "dim"))
    reference = exercise.file("solutions")
    if reference.exists():
        after.append(Text(f"reference  {paths.shown(reference)}   (kata solution {exercise.slug})"))
    after.append(Text(f"read       {exercise.reading}"))
    following = next_after(exercise, catalog)
    if following is not None:
        after.append(Text(f"next       {paths.shown(following.file('exercises'))}{key}"))
    left = room.rows - room.taken([head, *after])
    printed = _printed(found, room, left - 1)
    left -= room.taken(printed)
    skipped = _not_here(found, room, left - 1)
    passed = _checks_passed(found, room, left - room.taken(skipped))
    return [head, *passed, *skipped, *after, *printed]


def _not_here(found: Lesson, room: Room, rows: int) -> list[RenderableType]:
    lines = [f"  – not judged here: {title}" for title in found.skipped]
    return _fitting(lines, f"  – {len(lines)} not judged here", "dim", room, min(MOST_OTHERS, rows))


def _checks_passed(found: Lesson, room: Room, rows: int) -> list[RenderableType]:
    lines = [f"  ✓ {title}" for title in found.passed]
    return _fitting(lines, f"  ✓ {len(lines)} passed", "green", room, rows)


def _fitting(lines: Sequence[str], count: str, style: str, room: Room, rows: int) -> list[RenderableType]:
    """These lines; where they do not fit, how many more there are, or `count` alone."""
    texts: list[RenderableType] = [Text(line, style) for line in lines]
    if not texts or room.taken(texts) <= rows:
        return texts
    kept = room.first(texts, rows - 1)
    rest = Text(f"    and {len(texts) - len(kept)} more", style)
    return [*kept, rest] if kept else [Text(count, style)]


def _printed(found: Lesson, room: Room, rows: int) -> list[RenderableType]:
    lines = found.printed.splitlines()
    if not lines:
        return []
    # Text, never markup; and no control characters, which could rewrite the screen.
    plain = ["".join(c if c.isprintable() or c == "\t" else "�" for c in line)[:200] for line in lines]
    shown: list[RenderableType] = [Text(f"  {line}") for line in plain[:MOST_PRINTED]]
    head = Text("\nprinted:", "dim")
    rest: list[RenderableType] = []
    if len(lines) > MOST_PRINTED or room.taken([head, *shown]) > rows:
        shown = room.first(shown, rows - room.taken([head]) - 1)
        # The rest of a flood was not even kept.
        rest = [Text(f"  … at least {len(lines) - len(shown)} lines more", "dim")]
    return [head, *shown, *rest]


def next_after(exercise: Exercise, catalog: Catalog) -> Exercise | None:
    """The exercise that follows in the catalog."""
    everything = catalog.exercises
    place = everything.index(exercise) + 1
    return everything[place] if place < len(everything) else None


def bars(section: Section, catalog: Catalog, states: Mapping[str, State]) -> RenderableType:
    """How far the section and the course are."""
    return Group(_bar(section.name, section.exercises, states), _bar("course", catalog.exercises, states))


def _bar(name: str, exercises: tuple[Exercise, ...], states: Mapping[str, State]) -> Text:
    done = sum(states.get(e.slug) == "done" for e in exercises)
    filled = round(30 * done / len(exercises)) if exercises else 0
    bar = Text.assemble((f"{name:<16}", "bold"), ("█" * filled, "green"), ("░" * (30 - filled), "dim"))
    return bar.append(f" {done}/{len(exercises)}")


def listing(section: Section, states: Mapping[str, State], focus: Exercise | None = None) -> RenderableType:
    """The exercises of one section with their marks; those around `focus` where not all of them fit."""
    return Fitted(lambda room: _listed(section, states, focus, max(room.rows - 1, LEAST)))


def _listed(
    section: Section, states: Mapping[str, State], focus: Exercise | None, room: int
) -> list[RenderableType]:
    everything = section.exercises
    place = everything.index(focus) if focus in everything else 0
    start = max(0, min(place - room // 2, len(everything) - room))
    return [
        Text(f"{section.name} · {section.title}", "bold"),
        *(_row(e, states.get(e.slug, "todo"), e is focus) for e in everything[start : start + room]),
    ]


def _row(exercise: Exercise, state: State, is_focus: bool) -> Text:
    further = "  (further)" if exercise.path == "further" else ""
    text = f"{MARKS[state]} {exercise.order:>2} {exercise.slug:<28} {exercise.title}{further}"
    style = STYLES[state]
    return Text(f"{'>' if is_focus else ' '} {text}", f"bold {style}" if is_focus else style, no_wrap=True)
