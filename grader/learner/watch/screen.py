"""What `kata watch` shows: pure functions from records to text.

What matters most stands first, and what does not fit is scrolled to.
"""

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from grader.core.sanitize import plain
from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.course.statement import Statement
from grader.learner import course_map
from grader.learner.course_map import HIDDEN
from grader.learner.mending import Mending
from grader.learner.outcome import Lesson
from grader.learner.watch import cells, taught
from grader.learner.watch.folding import Lines
from grader.learner.watch.room import Fitted, Room
from grader.learner.watch.statement import laid
from grader.protocol.standing import hidden_decide
from grader.protocol.statuses import SOLVED, STATUSES, State

MOST_PRINTED = 100
"""Lines of what was printed: nobody scrolls through more."""


def lesson(
    lesson: Lesson, following: Exercise | None, mending: Mending | None = None, *, has_keys: bool = True
) -> RenderableType:
    """The verdict on one exercise, and which one comes next; of a capstone, how far it is mended."""
    if lesson.state in SOLVED:
        parts = _passed if lesson.state == "done" else _works
        told = [*_next(following, "   press n" if has_keys else ""), *_mended(lesson, mending, has_keys)]
        return Group(*parts(lesson, told))
    if lesson.state == "todo" or lesson.is_start:
        return Fitted(lambda room: _todo(lesson, room, mending))
    return Group(*_failed(lesson, "   press b" if has_keys else "", mending))


def asked(exercise: Exercise) -> RenderableType:
    """What an exercise's file says, and what is there."""
    return Fitted(lambda room: _asked(exercise, room))


def statement(exercise: Exercise) -> Statement:
    """What its file says."""
    file = exercise.file("exercises")
    return Statement.of(file.read_text("utf-8", "replace") if file.exists() else "")


def checking(exercise: Exercise, seconds: float | None = None) -> Text:
    """That a verdict is to come; of what takes its time, how long it has taken and how long it may."""
    told = f"it may take {exercise.seconds:g} s; save again at any time"
    taken = "" if seconds is None else f" {seconds:.0f} s ({told})"
    return Text(f"checking {exercise.slug} …{taken}", "dim")


def checking_all(catalog: Catalog, states: Mapping[str, State], left: int) -> RenderableType:
    """The map of the course while all are judged, of which so many are left."""
    told = f"checking all, {left} to go …" if left else "all are checked"
    return Group(course_map.CourseMap(catalog, states), Text(f"\n{told}", "dim"))


def _todo(lesson: Lesson, room: Room, mending: Mending | None) -> list[RenderableType]:
    if lesson.rest:
        head = Text.assemble((f"· {lesson.exercise.slug}", "bold yellow"), f" · {lesson.rest}")
        return [head, *_printed(lesson), *_checks_passed(lesson)]
    below = _not_here(lesson)
    if lesson.failures:  # what is to be mended fails from the start
        below = [Text(f"\n✗ as it is: {lesson.failures[0].title}", "red")]
    if mending:
        below.append(Text(mending.words, "bold"))
    return _asked(lesson.exercise, room, [*below, *_printed(lesson)])


def _asked(exercise: Exercise, room: Room, below: Iterable[RenderableType] = ()) -> list[RenderableType]:
    """An exercise that waits to be written: what its file says, and what is there."""
    said = statement(exercise)
    head: list[RenderableType] = [
        Text.assemble(
            (f"· {exercise.slug}", "bold yellow"),
            f" · {said.title or exercise.title}",
            (f"   {exercise.effort}" if exercise.effort else "", "dim"),
        ),
        *([Text(f"  before it: {', '.join(exercise.needs)}", "dim")] if exercise.needs else []),
        Text(),
    ]
    below = list(below)
    return [*head, *laid(said, room, room.rows - room.taken([*head, *below])), *below]


def _failed(lesson: Lesson, key: str, mending: Mending | None) -> list[RenderableType]:
    told, others = _told(lesson, key)
    counts = Text()
    if others:
        counts.append(f"  ✗ {len(others)} more {'fail' if len(others) > 1 else 'fails'}", "red")
    if lesson.passed:
        counts.append(f"  ✓ {len(lesson.passed)} passed", "green")
    if lesson.unwritten:
        counts.append(f"  · still to write: {', '.join(lesson.unwritten)}", "yellow")
    listed = (*mending.left, *mending.broken) if mending else ()
    rest = [line for line in others if line not in {f.line for f in lesson.failures if f.title in listed}]
    return [
        *told,
        *([counts] if counts else []),
        *_printed(lesson),
        *_mended(lesson, mending),
        *([Text(f"\nand {len(rest)} more:", "dim")] if rest else []),
        *(Text(f"  ✗ {title}", "red") for title in rest),
    ]


def _mended(lesson: Lesson, mending: Mending | None, has_keys: bool = True) -> list[RenderableType]:
    """How many of a capstone's bugs are mended, which symptoms are left, and what broke."""
    if mending is None:
        return []
    way = "w" if has_keys else f"`kata capstone {lesson.exercise.slug} --page`"
    return [
        Text(f"\n{mending.words}{'; left:' if mending.left else ''}", "bold"),
        *(Text(f"  ✗ {title}", "red") for title in mending.left),
        *([Text("right before, and wrong now:", "bold")] if mending.broken else []),
        *(Text(f"  ✗ {title}", "red") for title in mending.broken),
        *([Text(f"{way} shows what was wrong, and how one finds it", "dim")] if mending.is_done else []),
    ]


def _told(lesson: Lesson, key: str) -> tuple[list[RenderableType], list[str]]:
    """What is told first, and the titles of what else fails."""
    if lesson.trouble:
        file = paths.shown(lesson.exercise.file("exercises"))
        where = [] if f"{file}:" in lesson.trouble else [Text(f"  {file}", "dim")]
        return [Text(f"✗ {lesson.exercise.slug}", "bold red"), Text(lesson.trouble), *where], []
    first, drawn = lesson.failures[0], cells.of_failure(lesson.failures[0].feedback)
    feedback = cells.without(first.feedback) if drawn else first.feedback
    head, *body = feedback.lines_for(lesson.exercise, first.title, lesson.before)
    body = [f"{line}{key}" if lesson.before and line.endswith(lesson.before.short) else line for line in body]
    others = list(dict.fromkeys(f.line for f in lesson.failures if f.title != first.title))
    size = feedback.headline.count("\n") + 1 if drawn else len(body)
    after = [] if drawn else _example_of(lesson)
    parts = [Lines(tuple(body[:size])), *([drawn] if drawn else after), Lines(tuple(body[size:]))]
    return [Text(f"✗ {head}", "bold red"), *parts], others


def _example_of(lesson: Lesson) -> list[RenderableType]:
    """The first of the other failures that is small enough to be drawn, where the first one is not."""
    for failure in lesson.failures[1:]:
        if drawn := cells.of_failure(failure.feedback):
            return [Text(f"  ✗ {failure.title}", "red"), drawn]
    return []


def _works(lesson: Lesson, after: Iterable[RenderableType]) -> list[RenderableType]:
    """The job is done: the fine print by title, and what its first failure is."""
    told = Text("\n" + lesson.trouble) if lesson.trouble else Group(Text(), Lines(tuple(_first(lesson)[1:])))
    return [
        _head(STATUSES["works"].mark, lesson, lesson.standing.words(lesson.exercise)),
        *after,
        *(Text(f"  ✗ {title}", "yellow") for title in lesson.fine_print),
        *([Text(f"  · still to write: {', '.join(lesson.unwritten)}", "yellow")] if lesson.unwritten else []),
        *([told] if lesson.trouble or lesson.failures else []),
        *_printed(lesson),
        *_lesson_of(lesson.exercise),
        Text(),
        *_to_read(lesson.exercise),
    ]


def _first(lesson: Lesson) -> list[str]:
    """What is told of the first failure, if there is one."""
    return [
        line
        for f in lesson.failures[:1]
        for line in f.feedback.lines_for(lesson.exercise, f.title, lesson.before)
    ]


def _passed(lesson: Lesson, after: Iterable[RenderableType]) -> list[RenderableType]:
    words = lesson.standing.words(lesson.exercise)
    is_told = lesson.standing.fine or hidden_decide(lesson.exercise)
    return [
        _head("✓", lesson, words if is_told else f"{len(lesson.passed)} passed"),
        *after,
        *_lesson_of(lesson.exercise),
        Text(),
        *_to_read(lesson.exercise),
        *_printed(lesson),
        *_checks_passed(lesson),
        *_not_here(lesson),
    ]


def _head(mark: str, lesson: Lesson, words: str) -> Text:
    return Text(f"{mark} {lesson.exercise.slug} · {words}", "bold green")


def _lesson_of(exercise: Exercise) -> list[RenderableType]:
    told = [*taught.of(exercise)]
    return [Text(), *told] if told else []


def _next(following: Exercise | None, key: str) -> list[RenderableType]:
    return [Lines((f"next       {paths.shown(following.file('exercises'))}{key}",))] if following else []


def _to_read(exercise: Exercise) -> list[RenderableType]:
    told: list[RenderableType] = []
    reference = exercise.file("solutions")
    if reference.exists():
        told.append(Lines((f"reference  {paths.shown(reference)}   (kata solution {exercise.slug})",)))
    if exercise.reading:
        told.append(Text(f"read       {exercise.reading}"))
    if paths.is_release() and not exercise.is_step:
        told.append(Text(HIDDEN, "dim"))
    return told


def _not_here(lesson: Lesson) -> list[RenderableType]:
    return [Text(f"  – not judged here: {title}", "dim") for title in lesson.skipped]


def _checks_passed(lesson: Lesson) -> list[RenderableType]:
    return [Text(f"  ✓ {title}", "green") for title in lesson.passed]


def _printed(lesson: Lesson) -> list[RenderableType]:
    lines = lesson.printed.splitlines()
    # Text, never markup; and no control characters, which could rewrite the screen.
    shown = [Text(f"  {plain(line)[:200]}") for line in lines[:MOST_PRINTED]]
    # The rest of a flood was not even kept.
    rest = (
        [Text(f"  … at least {len(lines) - MOST_PRINTED} lines more", "dim")] if lines[MOST_PRINTED:] else []
    )
    return [Text("\nprinted:", "dim"), *shown, *rest] if lines else []
