"""What `kata watch` shows: pure functions from records to text."""

import ast
from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from grader import paths
from grader.catalog import Catalog, Exercise, Section
from grader.lesson import Lesson
from grader.progress import MARKS, State

STYLES: dict[State, str] = {"done": "green", "failing": "red", "todo": "dim"}
KEYS = "[n]ext  [h]int  [l]ist  run [a]ll  [r]eset  [e]dit  [q]uit"
MOST_PRINTED = 10
MOST_OTHERS = 6
LEAST = 3
"""Titles that are shown however low the window is."""


def lesson(found: Lesson, catalog: Catalog, rows: int = 50) -> RenderableType:
    """The verdict on one exercise, in about `rows` lines."""
    if found.state == "done":
        return _passed(found, catalog, rows)
    if found.state == "todo":
        return Group(todo(found.exercise), *_printed(found, rows))
    return _failed(found, rows)


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


def _failed(found: Lesson, rows: int) -> RenderableType:
    parts: list[RenderableType] = []
    if found.trouble:
        file = paths.shown(found.exercise.file("exercises"))
        parts += [Text(f"✗ {found.exercise.slug}", "bold red"), Text(found.trouble)]
        parts += [Text(f"  {file}", "dim")] if f"{file}:" not in found.trouble else []
    else:
        head, _, body = found.failures[0].message.partition("\n")
        parts += [Text(f"✗ {head}", "bold red"), Text(body)]
        rows -= body.count("\n") + 2
        others = list(dict.fromkeys(f.title for f in found.failures if f.title != found.failures[0].title))
        if others:
            parts.append(Text(f"\nand {len(others)} more:", "dim"))
            parts += _titles("✗", others, "red", min(MOST_OTHERS, rows - 3))
            rows -= 2 + min(len(others), MOST_OTHERS)
    if found.passed:
        parts.append(Text(f"  ✓ {len(found.passed)} passed", "green"))
    return Group(*parts, *_printed(found, rows - 1))


def _passed(found: Lesson, catalog: Catalog, rows: int) -> RenderableType:
    exercise = found.exercise
    after: list[RenderableType] = [Text(f"  – not judged here: {title}", "dim") for title in found.skipped]
    reference = exercise.file("solutions")
    after.append(Text(""))
    if reference.exists():
        after.append(Text(f"reference  {paths.shown(reference)}   (kata solution {exercise.slug})"))
    after.append(Text(f"read       {exercise.reading}"))
    following = next_after(exercise, catalog)
    if following is not None:
        after.append(Text(f"next       {paths.shown(following.file('exercises'))}   press n"))
    after += _printed(found, rows - len(after) - 1 - LEAST)
    return Group(
        Text(f"✓ {exercise.slug}", "bold green"),
        *_titles("✓", found.passed, "green", rows - len(after) - 1),
        *after,
    )


def _titles(mark: str, titles: Sequence[str], style: str, rows: int) -> list[RenderableType]:
    """One line each, and how many more there are where they do not fit."""
    rows = max(rows, LEAST)
    shown = titles if len(titles) <= rows else titles[: rows - 1]
    lines: list[RenderableType] = [Text(f"  {mark} {title}", style) for title in shown]
    return [*lines, Text(f"    and {len(titles) - len(shown)} more", style)] if shown != titles else lines


def _printed(found: Lesson, rows: int) -> list[RenderableType]:
    lines = found.printed.splitlines()
    if not lines:
        return []
    most = max(LEAST, min(MOST_PRINTED, rows - 3))
    # Text, never markup; and no control characters, which could rewrite the screen.
    shown = ["".join(c if c.isprintable() or c == "\t" else "�" for c in line)[:200] for line in lines]
    more = f"at least {len(lines) - most} lines more"  # the rest of a flood was not even kept
    rest = [Text(f"  … {more}", "dim")] if len(lines) > most else []
    return [Text("\nprinted:", "dim"), *(Text(f"  {line}") for line in shown[:most]), *rest]


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


def listing(
    section: Section, states: Mapping[str, State], focus: Exercise | None = None, rows: int = 50
) -> RenderableType:
    """The exercises of one section with their marks; those around `focus` where not all of them fit."""
    room = max(rows - 1, LEAST)
    everything = section.exercises
    place = everything.index(focus) if focus in everything else 0
    start = max(0, min(place - room // 2, len(everything) - room))
    return Group(
        Text(f"{section.name} · {section.title}", "bold"),
        *(_row(e, states.get(e.slug, "todo"), e is focus) for e in everything[start : start + room]),
    )


def _row(exercise: Exercise, state: State, is_focus: bool) -> Text:
    further = "  (further)" if exercise.path == "further" else ""
    text = f"{MARKS[state]} {exercise.order:>2} {exercise.slug:<28} {exercise.title}{further}"
    style = STYLES[state]
    return Text(f"{'>' if is_focus else ' '} {text}", f"bold {style}" if is_focus else style, no_wrap=True)
