"""What `kata watch` shows: pure functions from records to text.

A verdict is laid out when it is drawn, for the window as it is then, and rows are counted as they wrap: where
room is short, titles become a count before anything is cut that says how to go on.
"""

import ast
from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from grader.course import paths
from grader.course.catalog import Catalog, Exercise, Section
from grader.learner.outcome import Lesson
from grader.learner.watch.room import LEAST, Fitted, Room
from grader.records.progress import HIDDEN, counted
from grader.records.rungs import MARKS, State

STYLES: dict[State, str] = {"done": "green", "works": "green", "failing": "red", "todo": "dim"}
KEYS = "[n]ext  [h]int  [s]olution  [l]ist  run [a]ll  [r]eset  [e]dit  [q]uit"
NO_KEYS = "no single keys can be read here: Ctrl-C ends, `kata hint` and the other verbs do the rest"
MOST_PRINTED = 10
MOST_OTHERS = 6


def lesson(found: Lesson, following: Exercise | None, *, has_keys: bool = True) -> RenderableType:
    """The verdict on one exercise, and which one comes next."""
    way_on = _way_on(found.exercise, following, "   press n" if has_keys else "")
    if found.state == "done":
        return Fitted(lambda room: _passed(found, way_on, room))
    if found.state == "works":
        return Fitted(lambda room: _works(found, way_on, room))
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
    head, *body = _first(found)
    first = found.failures[0]
    others = list(dict.fromkeys(f.line for f in found.failures if f.title != first.title))
    return [Text(f"✗ {head}", "bold red"), Text("\n".join(body))], others


def _works(found: Lesson, way_on: list[RenderableType], room: Room) -> list[RenderableType]:
    """The job is done: the fine print by title and, where there is room, what its first failure is."""
    head = Text(f"{MARKS['works']} {found.exercise.slug} · {found.rungs.words}", "bold green")
    left = room.rows - room.taken([head, *way_on])
    printed = _printed(found, room, left - 1)
    left -= room.taken(printed)
    lines = [f"  ✗ {title}" for title in found.fine_print]
    lines += [f"  · still to write: {', '.join(found.unwritten)}"] if found.unwritten else []
    titles = _fitting(lines, f"  ✗ {len(lines)} of the fine print", "yellow", room, left)
    left -= room.taken(titles)
    told = Text("\n" + (found.trouble or "\n".join(_first(found)[1:])))
    first = [room.cut([told], left)] if left > LEAST and (found.trouble or found.failures) else []
    return [head, *titles, *first, *way_on, *printed]


def _first(found: Lesson) -> list[str]:
    """What is told of the first failure, if there is one."""
    return [line for f in found.failures[:1] for line in f.feedback.told(found.exercise, f.title)]


def _way_on(exercise: Exercise, following: Exercise | None, key: str) -> list[RenderableType]:
    after: list[RenderableType] = [Text("")]
    if paths.is_release():
        after.append(Text(HIDDEN, "dim"))
    reference = exercise.file("solutions")
    if reference.exists():
        after.append(Text(f"reference  {paths.shown(reference)}   (kata solution {exercise.slug})"))
    after.append(Text(f"read       {exercise.reading}"))
    if following is not None:
        after.append(Text(f"next       {paths.shown(following.file('exercises'))}{key}"))
    return after


def _passed(found: Lesson, way_on: list[RenderableType], room: Room) -> list[RenderableType]:
    words = f" · {found.rungs.words}" if found.rungs.fine else ""
    head = Text(f"✓ {found.exercise.slug}{words}", "bold green")
    left = room.rows - room.taken([head, *way_on])
    printed = _printed(found, room, left - 1)
    left -= room.taken(printed)
    skipped = _not_here(found, room, left - 1)
    passed = _checks_passed(found, room, left - room.taken(skipped))
    return [head, *passed, *skipped, *way_on, *printed]


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


def bars(section: Section, catalog: Catalog, states: Mapping[str, State]) -> RenderableType:
    """How far the section and the course are."""
    return Group(_bar(section.name, section.exercises, states), _bar("course", catalog.exercises, states))


def _bar(name: str, exercises: tuple[Exercise, ...], states: Mapping[str, State]) -> Text:
    seen = [states.get(e.slug) for e in exercises]
    done = round(30 * seen.count("done") / max(len(seen), 1))
    works = round(30 * (seen.count("done") + seen.count("works")) / max(len(seen), 1)) - done
    parts = (("█" * done, "green"), ("▒" * works, "green"), ("░" * (30 - done - works), "dim"))
    return Text.assemble((f"{name:<16}", "bold"), *parts, f" {counted(exercises, states)}")


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
