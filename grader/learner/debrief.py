"""What was wrong in a capstone that is done, and how one finds it: as text, and as a page to keep."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from grader.core import atomic_write
from grader.core.errors import KataError
from grader.core.packed import unpacked
from grader.course import paths, variant
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.course.specimen import Bug
from grader.learner.mending import minutes
from grader.learner.watch.folding import Lines
from grader.program import pages
from grader.records import capstones

FOLDER = paths.STATE / "capstones"
_TEMPLATES = Path(__file__).parent / "templates"
_NOTHING = "(nothing)"


@dataclass(frozen=True)
class BugPlace:
    """Where a bug is: its lines, and those of the solution, which may be none."""

    where: str
    wrong: str
    right: str


@dataclass(frozen=True)
class FoundBug:
    """One bug: what it is, its three hints, and how long it took where a timer ran."""

    about: str
    hints: tuple[str, ...]
    places: tuple[BugPlace, ...]
    time: str

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is told of it, each with a name of few letters."""
        hints = tuple(zip(("symptom", "look", "place"), self.hints, strict=False))
        lines = tuple(
            fact for p in self.places for fact in (("at", p.where), ("wrong", p.wrong), ("right", p.right))
        )
        return (*hints, *lines, *([("time", self.time)] if self.time else []))


def shown(name: str, seed: int | None = None) -> RenderableType:
    """What was wrong in a variant, the one that lies here if none is named; a page with it is written.

    Raises:
        KataError: it is no capstone, the variant was not done, or its bugs are not known here.
    """
    exercise = load().find(name)
    slug = exercise.slug
    capstones.expect(exercise)
    known = capstones.of(slug)
    number = known.seed if seed is None else seed
    if number not in known.done:
        others = f"; --seed shows one that is: {', '.join(map(str, known.done))}" if known.done else ""
        raise KataError(f"what was wrong is shown once variant {number} of {slug} is done{others}")
    found = list(_found(exercise, number, known.held if number == known.seed else {}))
    title = f"{slug}, variant {number}: {len(found)} bugs"
    file = FOLDER / f"{slug}-{number}.html"
    atomic_write.write(file, pages.render(_TEMPLATES, "debrief.html", title=title, bugs=found))
    told: list[RenderableType] = [Text(title, "bold"), Text(f"as a page: {paths.shown(file)}", "dim")]
    for place, bug in enumerate(found, start=1):
        told += [Text(f"\n{place}. {bug.about}", "bold"), Lines((*_lines(bug),))]
    return Group(*told)


def _lines(bug: FoundBug) -> Iterator[str]:
    for name, text in bug.facts:
        yield from textwrap.indent(text, " " * 10).replace(" " * 10, f"  {name:<8}", 1).splitlines()


def _found(exercise: Exercise, seed: int, held: Mapping[str, float | None]) -> Iterator[FoundBug]:
    """The bugs of a variant, in the order in which they were mended as far as a timer tells."""
    pool, solution = variant.bugs(exercise), unpacked(exercise.content("solutions"))
    bugs = [pool[name] for name in variant.chosen(exercise, seed)]
    times = {bug.name: after for bug in bugs if (after := held.get(bug.check)) is not None}
    for bug in sorted(bugs, key=lambda bug: times.get(bug.name, 0.0)):
        after = times.get(bug.name)
        before = max((t for t in times.values() if after is not None and t < after), default=0.0)
        time = "" if after is None else f"{minutes(after - before)}, mended after {minutes(after)}"
        yield FoundBug(bug.about, exercise.pool.hints_for(bug.name), tuple(_places(bug, solution)), time)


def _places(bug: Bug, solution: Mapping[str, bytes]) -> Iterator[BugPlace]:
    """Whole lines, though a bug may be a part of one."""
    for name, wrong in bug.applied(solution).items():
        if wrong == solution.get(name):
            continue
        theirs, right = (content.decode("utf-8").splitlines() for content in (wrong, solution.get(name, b"")))
        for kind, a, b, c, d in SequenceMatcher(None, theirs, right, autojunk=False).get_opcodes():
            if kind != "equal":
                both = textwrap.dedent("\n".join([*theirs[a:b], *right[c:d]])).splitlines()
                sides = ("\n".join(part) or _NOTHING for part in (both[: b - a], both[b - a :]))
                yield BugPlace(f"{name}, line {c + 1}", *sides)
