"""What can be looked up in a course: calls, concepts and messages of errors, each with where it is met."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from grader.course import chapter
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.course.statement import Statement

_QUOTED = re.compile(r"\braises? \"(?P<text>[^\"]+)\"")


@dataclass(frozen=True)
class Entry:
    """One thing to look up: its name, what is told of it, and where it is met."""

    name: str
    tells: str
    section: str
    exercises: tuple[Exercise, ...]


def calls(catalog: Catalog) -> Iterator[Entry]:
    """The calls of all chapters, in their order."""
    for section in catalog.sections:
        for row in chapter.calls(chapter.text_of(section.name)):
            yield Entry(row.name, row.tells, section.name, _known(catalog, row.slugs))


def concepts(catalog: Catalog) -> Iterator[Entry]:
    """The concepts of all steps and exercises, from a to z."""
    held: dict[str, list[Exercise]] = defaultdict(list)
    for exercise in catalog.exercises:
        for concept in exercise.concepts:
            held[concept].append(exercise)
    for name in sorted(held, key=str.casefold):
        yield Entry(name, "", held[name][0].section, tuple(held[name]))


def messages(catalog: Catalog) -> Iterator[Entry]:
    """The messages that a chapter explains, and others that it or a statement shows."""
    explained = [
        Entry(row.name, row.tells, section.name, _known(catalog, row.slugs))
        for section in catalog.sections
        for row in chapter.messages(chapter.text_of(section.name))
    ]
    yield from explained
    seen = [_plain(entry.name) for entry in explained]
    for entry in (*_in_chapters(catalog), *_in_statements(catalog)):
        if not any(name in _plain(entry.name) or _plain(entry.name) in name for name in seen):
            seen.append(_plain(entry.name))
            yield entry


def _in_chapters(catalog: Catalog) -> Iterator[Entry]:
    for section in catalog.sections:
        for text in chapter.printed(chapter.text_of(section.name)):
            yield Entry(text, "", section.name, ())


def _in_statements(catalog: Catalog) -> Iterator[Entry]:
    for exercise in catalog.exercises:
        file = exercise.file("exercises")
        if not file.is_file():
            continue
        said = Statement.of(file.read_text("utf-8", "replace")).job
        for text in (*chapter.printed(said), *(found["text"] for found in _QUOTED.finditer(said))):
            yield Entry(" ".join(text.split()), "", exercise.section, (exercise,))


def _known(catalog: Catalog, slugs: tuple[str, ...]) -> tuple[Exercise, ...]:
    """Those that this course has: a release may lack some."""
    rows = {e.slug: e for e in catalog.exercises}
    return tuple(rows[slug] for slug in slugs if slug in rows)


@dataclass(frozen=True)
class Found:
    """What there is about some words."""

    calls: tuple[Entry, ...]
    concepts: tuple[Entry, ...]
    messages: tuple[Entry, ...]
    exercises: tuple[Exercise, ...]

    def __bool__(self) -> bool:
        return bool(self.calls or self.concepts or self.messages or self.exercises)


def find(catalog: Catalog, asked: str) -> Found:
    """Look up words, or a message as it was printed, whatever its numbers are and what comes before it."""
    words = asked.casefold().split()

    def holds(*texts: str) -> bool:
        text = " ".join(texts).casefold()
        return bool(words) and all(word in text for word in words)

    def is_message(name: str) -> bool:
        return bool(words) and (_plain(asked) in _plain(name) or _plain(name) in _plain(asked))

    return Found(
        calls=tuple(e for e in calls(catalog) if holds(e.name)),
        concepts=tuple(e for e in concepts(catalog) if holds(e.name)),
        messages=tuple(e for e in messages(catalog) if is_message(e.name) or holds(e.name)),
        exercises=tuple(e for e in catalog.exercises if holds(e.slug.replace("_", " "), e.slug, e.title)),
    )


def _plain(message: str) -> str:
    """Without what differs from one time to the next."""
    return re.sub(r"\d+", "0", re.sub(r"\.\.\..*", "", message)).casefold().strip(" .\"'")
