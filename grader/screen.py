"""What `kata watch` shows: pure functions from records to text."""

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from grader import paths
from grader.catalog import Catalog, Exercise, Section
from grader.lesson import Lesson
from grader.progress import MARKS, State

STYLES: dict[State, str] = {"done": "green", "failing": "red", "todo": "dim"}
KEYS = "[n]ext  [h]int  [l]ist  [a]ll  [r]eset  [e]dit  [q]uit"
MOST_PRINTED = 10
MOST_OTHERS = 6


def lesson(found: Lesson, catalog: Catalog) -> RenderableType:
    """The verdict on one exercise."""
    if found.state == "done":
        return _passed(found, catalog)
    if found.state == "todo":
        return Text(f"{found.exercise.slug} is still to do: its stub raises NotImplementedError", "yellow")
    return _failed(found)


def _failed(found: Lesson) -> RenderableType:
    parts: list[RenderableType] = []
    if found.trouble:
        parts.append(Text(f"✗ {found.exercise.slug}", "bold red"))
        parts += [Text(found.trouble), Text(f"  {paths.shown(found.exercise.file('exercises'))}", "dim")]
    else:
        head, _, body = found.failures[0].message.partition("\n")
        parts += [Text(f"✗ {head}", "bold red"), Text(body)]
        others = list(dict.fromkeys(f.title for f in found.failures if f.title != found.failures[0].title))
        if others:
            parts.append(Text(f"\nand {len(others)} more:", "dim"))
            parts += [Text(f"  ✗ {title}", "red") for title in others[:MOST_OTHERS]]
    if found.passed:
        parts.append(Text(f"  ✓ {len(found.passed)} passed", "green"))
    return Group(*parts, *_printed(found))


def _passed(found: Lesson, catalog: Catalog) -> RenderableType:
    exercise = found.exercise
    parts: list[RenderableType] = [Text(f"✓ {exercise.slug}", "bold green")]
    parts += [Text(f"  ✓ {title}", "green") for title in found.passed]
    parts += [Text(f"  – not judged here: {title}", "dim") for title in found.skipped]
    reference = exercise.file("solutions")
    if reference.exists():
        parts.append(Text(f"\nreference  {paths.shown(reference)}   (kata solution {exercise.slug})"))
    parts.append(Text(f"read       {exercise.reading}"))
    following = after(exercise, catalog)
    if following is not None:
        parts.append(Text(f"next       {paths.shown(following.file('exercises'))}   press n"))
    return Group(*parts, *_printed(found))


def _printed(found: Lesson) -> list[RenderableType]:
    lines = found.printed.splitlines()
    if not lines:
        return []
    # Text, never markup; and no control characters, which could rewrite the screen.
    shown = ["".join(c if c.isprintable() or c == "\t" else "�" for c in line)[:200] for line in lines]
    rest = [Text(f"  … {len(lines) - MOST_PRINTED} lines more", "dim")] if len(lines) > MOST_PRINTED else []
    return [Text("\nprinted:", "dim"), *(Text(f"  {line}") for line in shown[:MOST_PRINTED]), *rest]


def after(exercise: Exercise, catalog: Catalog) -> Exercise | None:
    """The exercise that follows in the catalog."""
    everything = catalog.exercises
    place = everything.index(exercise) + 1
    return everything[place] if place < len(everything) else None


def bars(section: Section | None, catalog: Catalog, states: Mapping[str, State]) -> RenderableType:
    """How far the section and the course are."""
    rows = []
    if section is not None:
        rows.append(_bar(section.name, section.exercises, states))
    return Group(*rows, _bar("course", catalog.exercises, states))


def _bar(name: str, exercises: tuple[Exercise, ...], states: Mapping[str, State]) -> Text:
    done = sum(states.get(e.slug) == "done" for e in exercises)
    filled = round(30 * done / len(exercises)) if exercises else 0
    bar = Text.assemble((f"{name:<16}", "bold"), ("█" * filled, "green"), ("░" * (30 - filled), "dim"))
    return bar.append(f" {done}/{len(exercises)}")


def listing(section: Section, states: Mapping[str, State]) -> RenderableType:
    """The exercises of one section with their marks."""
    rows = [Text(f"{section.name} · {section.title}", "bold")]
    for exercise in section.exercises:
        state = states.get(exercise.slug, "todo")
        further = "  further" if exercise.path == "further" else ""
        rows.append(
            Text(
                f"  {MARKS[state]} {exercise.order:>2} {exercise.slug:<28} {exercise.title}{further}",
                STYLES[state],
            )
        )
    return Group(*rows)
