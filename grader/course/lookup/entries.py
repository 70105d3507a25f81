"""What can be looked up in a course, from symptoms to exercises, and where it is met."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from grader.course import chapter
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.course.lookup import symptoms as told
from grader.course.lookup.symptoms import Symptom
from grader.course.statement import Statement

Kind = Literal["symptom", "message", "call", "pitfall", "concept", "exercise"]

_QUOTED = re.compile(r"\braises? \"(?P<text>[^\"]+)\"")


@dataclass(frozen=True)
class Entry:
    """One thing to look up: its name, what is told of it, where it is met; what else it is found by."""

    kind: Kind
    name: str
    tells: str
    section: str
    exercises: tuple[Exercise, ...]
    also: tuple[str, ...] = ()
    text: str = ""
    symptom: Symptom | None = None


def everything(catalog: Catalog) -> tuple[Entry, ...]:
    """All that `kata find` and the book's search know."""
    kinds = (symptoms, messages, calls, pitfalls, exercises)
    return tuple(entry for kind in kinds for entry in kind(catalog))


def symptoms(catalog: Catalog) -> Iterator[Entry]:
    """What people see, as they say it, by the files that tell of it."""
    for one in told.read():
        where = known(catalog, one.slugs)
        looked = " ".join(f"{check.look} {check.tells} {check.do}" for check in one.checks)
        yield Entry("symptom", one.name, one.kind, "", where, one.said, looked, one)


def calls(catalog: Catalog) -> Iterator[Entry]:
    """The calls of all chapters, in their order."""
    for section in catalog.sections:
        for row in chapter.calls(chapter.text_of(section.name)):
            yield Entry("call", row.name, row.tells, section.name, known(catalog, row.slugs))


def pitfalls(catalog: Catalog) -> Iterator[Entry]:
    """What all chapters warn of."""
    for section in catalog.sections:
        for row in chapter.pitfalls(chapter.text_of(section.name)):
            yield Entry("pitfall", row.name, row.tells, section.name, known(catalog, row.slugs))


def concepts(catalog: Catalog) -> Iterator[Entry]:
    """The concepts of all steps and exercises, from a to z."""
    held: dict[str, list[Exercise]] = defaultdict(list)
    for exercise in catalog.exercises:
        for concept in exercise.concepts:
            held[concept].append(exercise)
    for name in sorted(held, key=str.casefold):
        yield Entry("concept", name, "", held[name][0].section, tuple(held[name]))


def exercises(catalog: Catalog) -> Iterator[Entry]:
    """Steps and exercises, by what their statements and hints say."""
    for exercise in catalog.exercises:
        said = _statement(exercise)
        also = (exercise.slug.replace("_", " "), said.title, *exercise.concepts)
        text = " ".join((said.job, *exercise.hints))
        yield Entry("exercise", exercise.title, said.title, exercise.section, (exercise,), also, text)


def messages(catalog: Catalog) -> Iterator[Entry]:
    """The messages that chapters explain, and others that a chapter or a statement shows."""
    explained = [
        Entry("message", row.name, row.tells, section.name, known(catalog, row.slugs))
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
            yield Entry("message", text, "", section.name, ())


def _in_statements(catalog: Catalog) -> Iterator[Entry]:
    for exercise in catalog.exercises:
        said = _statement(exercise).job
        for text in (*chapter.printed(said), *(found["text"] for found in _QUOTED.finditer(said))):
            yield Entry("message", " ".join(text.split()), "", exercise.section, (exercise,))


def _statement(exercise: Exercise) -> Statement:
    file = exercise.file("exercises")
    return Statement.of(exercise.text(exercise.content("exercises")) if file.is_file() else "")


def known(catalog: Catalog, slugs: tuple[str, ...]) -> tuple[Exercise, ...]:
    """Those that this course has: a release may lack some."""
    rows = {e.slug: e for e in catalog.exercises}
    return tuple(rows[slug] for slug in slugs if slug in rows)


def _plain(message: str) -> str:
    """Without what differs from one time to the next."""
    return re.sub(r"\d+", "0", re.sub(r"\.\.\..*", "", message)).casefold().strip(" .\"'")
