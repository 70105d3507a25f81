"""The pages of the book, as Markdown: what a learner may read, and nothing of what grades or answers."""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grader.course import chapter, index
from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise
from grader.course.markdown import escaped, fenced, linked, prose
from grader.course.statement import FINE, Statement

_PICTURE = re.compile(r"\]\((?:\.\./)+docs/pictures/")


@dataclass(frozen=True)
class Page:
    """A page: its place in the book, without an ending, and its text."""

    place: str
    text: str


def place_of(exercise: Exercise) -> str:
    """The page of a step or an exercise: ``e01_tensors/merge_heads``."""
    return f"{exercise.section}/{exercise.slug}"


def pages(catalog: Catalog) -> Iterator[Page]:
    """All of them: the front, a chapter for each section, each statement, and the indexes."""
    yield _front(catalog)
    for section in catalog.sections:
        yield _chapter(catalog, section)
        for exercise in section.exercises:
            yield _statement(catalog, exercise)
    yield _calls(catalog)
    yield _concepts(catalog)
    yield _messages(catalog)
    yield _efforts(catalog)


def _front(catalog: Catalog) -> Page:
    steps = sum(e.is_step for e in catalog.exercises)
    chapters = "\n".join(f"{s.title} <{s.name}/index>" for s in catalog.sections)
    return Page(
        "index",
        f"""# torchkata

A kata for PyTorch: {len(catalog.sections)} sections from a first `torch.tensor` to a profiled, sharded,
deployed model, {steps} first steps and {len(catalog.exercises) - steps} exercises. This is what there is to
read: each section's chapter and what is asked. Answers are written in an editor and judged as you save, by
`kata watch`.

Looking for something? [A call](calls.md), [a concept](concepts.md), [the message of an error](messages.md),
or [something for ten minutes](efforts.md); or type it into the search field.

```{{toctree}}
:caption: Sections
:maxdepth: 1

{chapters}
```

```{{toctree}}
:caption: Look up
:maxdepth: 1

calls
concepts
messages
efforts
```
""",
    )


def _chapter(catalog: Catalog, section: Section) -> Page:
    text = _PICTURE.sub("](../pictures/", chapter.text_of(section.name)) or f"# {section.title}\n"
    pages = {e.slug: f"../{place_of(e)}.md" for e in catalog.exercises}
    parts = [linked(text, pages.get)]
    for title, held in (("First steps", True), ("Exercises", False)):
        exercises = [e for e in section.exercises if e.is_step == held]
        if exercises:
            rows = "\n".join(f"{e.title} <{e.slug}>" for e in exercises)
            parts.append(f"## {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n{rows}\n```\n")
    return Page(f"{section.name}/index", "\n\n".join(parts))


def _statement(catalog: Catalog, exercise: Exercise) -> Page:
    file = exercise.file("exercises")
    source = exercise.text(exercise.content("exercises")) if file.is_file() else ""
    said = Statement.of(source)
    parts = [f"# {escaped(exercise.title)}", _about(catalog, exercise), f"**{escaped(said.title)}**"]
    parts.append(prose(said.job))
    if said.fine is not None:
        parts += [f"## {FINE.rstrip(':')}", prose(said.fine)]
    parts += ["## Start", f"`{exercise.relative}`", fenced(said.code)]
    parts += [_hint(number, hint) for number, hint in enumerate(exercise.hints, start=1)]
    parts.append(f"To work on it: `kata watch {exercise.slug}`, or `pytest -k {exercise.slug}` in any shell.")
    if exercise.reading:
        parts.append(f"To read: <{exercise.reading}>")
    return Page(place_of(exercise), "\n\n".join(part for part in parts if part) + "\n")


def _about(catalog: Catalog, exercise: Exercise) -> str:
    kind = "step" if exercise.is_step else "exercise"
    optional = ", optional" if exercise.optional else ""
    told = [f"{exercise.short.split('_')[0]}: {kind}, {exercise.kind}{optional}", exercise.effort]
    rows = {e.slug: e for e in catalog.exercises}
    if needs := ", ".join(_link(rows[slug], up=True) for slug in exercise.needs if slug in rows):
        told.append(f"before it: {needs}")
    told.append(f"about: {escaped(', '.join(exercise.concepts))}")
    return " · ".join(part for part in told if part)


def _hint(number: int, hint: str) -> str:
    text = re.sub(r"`([^`]+)`", lambda found: f"<code>{found[1]}</code>", html.escape(hint, quote=False))
    return f'<details class="hint"><summary>Hint {number}</summary><p>{text}</p></details>'


def _link(exercise: Exercise, *, up: bool = False) -> str:
    return f"[{exercise.slug}]({'../' if up else ''}{place_of(exercise)}.md)"


def _where(entry: index.Entry) -> str:
    chapter_of = f"[{entry.section}]({entry.section}/index.md)"
    return ", ".join(map(_link, entry.exercises)) or f"the chapter {chapter_of}"


def _table(head: str, rows: Iterable[str]) -> str:
    columns = head.count("|") + 1
    return "\n".join([f"| {head} |", "|" + "---|" * columns, *(f"| {row} |" for row in rows)])


def _calls(catalog: Catalog) -> Page:
    pages = {e.slug: f"{place_of(e)}.md" for e in catalog.exercises}
    rows = [
        f"`{entry.name}` | {linked(entry.tells, pages.get)} | {_where(entry)}"
        for entry in sorted(index.calls(catalog), key=lambda entry: _called(entry.name))
    ]
    table = _table("Call | What comes back | Where", rows)
    return Page("calls", f"# Calls\n\nBy their last name, as they stand in the chapters.\n\n{table}\n")


def _called(call: str) -> str:
    """What a call is looked up by: `gather` of ``x.gather(1, n)``."""
    found = re.findall(r"(\w+)\(", call)
    return (found[-1] if found else call).casefold()


def _concepts(catalog: Catalog) -> Page:
    rows = [f"{escaped(entry.name)} | {_where(entry)}" for entry in index.concepts(catalog)]
    return Page("concepts", f"# Concepts\n\n{_table('Concept | Where', rows)}\n")


def _messages(catalog: Catalog) -> Page:
    rows = [
        f"{escaped(entry.name)} | {entry.tells or '…'} | {_where(entry)}"
        for entry in sorted(index.messages(catalog), key=lambda entry: entry.name.casefold())
    ]
    told = "The last line of a traceback, and where it is met on purpose. Numbers in it are examples."
    table = _table("Message | What it means | Where", rows)
    return Page("messages", f"# Messages of errors\n\n{told}\n\n{table}\n")


def _efforts(catalog: Catalog) -> Page:
    exercises = [e for e in catalog.exercises if not e.is_step]
    rows = [
        f"{e.effort} | {_link(e)} | {escaped(e.title)} | {e.section}"
        for e in sorted(exercises, key=lambda e: (e.difficulty, e.minutes))
    ]
    told = "Exercises from the easy and short to the demanding; a step takes three to eight minutes."
    table = _table("Effort | Exercise | About | Section", rows)
    return Page("efforts", f"# By difficulty and minutes\n\n{told}\n\n{table}\n")
