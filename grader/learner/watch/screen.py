"""What `kata watch` shows: pure functions from records to text.

A verdict is laid out when it is drawn, for the window as it is then, and rows are counted as they wrap: where
room is short, titles become a count before anything is cut that says how to go on.
"""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.course.statement import Statement
from grader.learner import course_map
from grader.learner.course_map import HIDDEN, counted
from grader.learner.outcome import Lesson
from grader.learner.watch.room import LEAST, Fitted, Room
from grader.learner.watch.statement import laid
from grader.records.rungs import MARKS, SETTLED, State

KEYS = "[n]ext [p]revious [b]efore [h]int [s]olution [l]ist [a]ll [r]eset [e]dit [q]uit"
NO_KEYS = "no single keys can be read here: Ctrl-C ends, `kata hint` and the other verbs do the rest"
WIDTH = 10
"""Of a bar."""
ROOMY = 16
"""Rows from which there is room for what is not asked."""

MOST_PRINTED = 10
MOST_OTHERS = 6


def lesson(found: Lesson, following: Exercise | None, *, has_keys: bool = True) -> RenderableType:
    """The verdict on one exercise, and which one comes next."""
    way_on = _way_on(found.exercise, following, "   press n" if has_keys else "")
    if found.state == "done":
        return Fitted(lambda room: _passed(found, way_on, room))
    if found.state == "works":
        return Fitted(lambda room: _works(found, way_on, room))
    if found.state == "todo" or found.is_start:
        return Fitted(lambda room: _todo(found, has_keys, room))
    return Fitted(lambda room: _failed(found, "   press b" if has_keys else "", room))


def ready(exercise: Exercise, *, has_keys: bool = True) -> RenderableType:
    """What is asked first, when all is warm."""
    return Fitted(lambda room: _asked(exercise, has_keys, room, room.rows))


def checking(exercise: Exercise, seconds: float | None = None) -> Text:
    """That a verdict is to come; of what takes its time, how long it has taken and how long it may."""
    told = f"it may take {exercise.seconds:g} s; save again at any time"
    taken = "" if seconds is None else f" {seconds:.0f} s ({told})"
    return Text(f"checking {exercise.slug} …{taken}", "dim")


def checking_all(catalog: Catalog, states: Mapping[str, State], left: int) -> RenderableType:
    """The map of the course while all are judged, of which so many are left."""
    told = f"checking all, {left} to go …" if left else "all are checked"
    return Group(course_map.course(catalog, states), Text(f"\n{told}", "dim"))


def _todo(found: Lesson, has_keys: bool, room: Room) -> list[RenderableType]:
    if not found.rest:
        below = _not_here(found, room, room.rows // 4)
        if found.failures:  # what is to be mended fails from the start
            below = [Text(f"\n✗ as it is: {found.failures[0].title}", "red")]
        below += _printed(found, room, room.rows // 3)
        return [*_asked(found.exercise, has_keys, room, room.rows - room.taken(below)), *below]
    head = Text.assemble((f"· {found.exercise.slug}", "bold yellow"), f" · {found.rest}")
    left = room.rows - room.taken([head])
    printed = _printed(found, room, left - 1)
    return [head, *_checks_passed(found, room, left - room.taken(printed)), *printed]


def _asked(exercise: Exercise, has_keys: bool, room: Room, rows: int) -> list[RenderableType]:
    """An exercise that waits to be written: what its file says, and what is there."""
    file = exercise.file("exercises")
    asked = Statement.of(file.read_text("utf-8", "replace") if file.exists() else "")
    head: list[RenderableType] = [
        Text.assemble(
            (f"· {exercise.slug}", "bold yellow"),
            f" · {asked.title or exercise.title}",
            (f"   {exercise.effort}" if exercise.effort else "", "dim"),
        ),
        Text(),
    ]
    how = ": press e, or open the file" if has_keys else ": open the file"
    if exercise.needs and rows > ROOMY:
        head.insert(1, Text(f"  before it: {', '.join(exercise.needs)}", "dim"))
    return [*head, *laid(asked, room, rows - room.taken(head), how)]


def _failed(found: Lesson, key: str, room: Room) -> list[RenderableType]:
    told, others = _told(found, key)
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


def _told(found: Lesson, key: str) -> tuple[list[RenderableType], list[str]]:
    """What is told first, and the titles of what else fails."""
    if found.trouble:
        file = paths.shown(found.exercise.file("exercises"))
        where = [] if f"{file}:" in found.trouble else [Text(f"  {file}", "dim")]
        return [Text(f"✗ {found.exercise.slug}", "bold red"), Text(found.trouble), *where], []
    head, *body = _first(found)
    body = [f"{line}{key}" if found.before and line.endswith(found.before.short) else line for line in body]
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
    return [
        line for f in found.failures[:1] for line in f.feedback.told(found.exercise, f.title, found.before)
    ]


def _way_on(exercise: Exercise, following: Exercise | None, key: str) -> list[RenderableType]:
    after: list[RenderableType] = [Text("")]
    if paths.is_release() and not exercise.is_step:
        after.append(Text(HIDDEN, "dim"))
    reference = exercise.file("solutions")
    if reference.exists():
        after.append(Text(f"reference  {paths.shown(reference)}   (kata solution {exercise.slug})"))
    if exercise.reading:
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


def bars(focus: Exercise, path: Sequence[Exercise], states: Mapping[str, State]) -> Text:
    """How far the section and the path are: their steps while one is in focus, else their exercises."""
    alike = [e for e in path if e.is_step == focus.is_step] or path
    here = [e for e in alike if e.section == focus.section]
    bars = [] if len(here) in (0, len(alike)) else [_bar(focus.section, here, states)]
    bars.append(_bar(alike[0].section if alike == here and alike else "course", alike, states))
    kind = "   steps" if alike and alike[0].is_step else ""
    return Text("   ").join(bars).append(kind, "dim")


def _bar(name: str, exercises: Sequence[Exercise], states: Mapping[str, State]) -> Text:
    seen = [states.get(e.slug) for e in exercises]
    settled = sum(state in SETTLED for state in seen)
    done, works = (_share(n, len(seen)) for n in (settled - seen.count("works"), settled))
    parts = (("█" * done, "green"), ("▒" * (works - done), "green"), ("░" * (WIDTH - works), "dim"))
    return Text.assemble((name, "bold"), f" {counted(exercises, states)} ", *parts)


def _share(count: int, total: int) -> int:
    """So many of a bar's blocks: one for the first of a hundred, and not all before the last."""
    return min(max(round(WIDTH * count / max(total, 1)), count > 0), WIDTH - (count < total))
