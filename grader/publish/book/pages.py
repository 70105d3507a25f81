"""The pages of the book, as Markdown: what a learner may read, and nothing of what grades or answers."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.core.errors import KataError
from grader.course import chapter, example, starts
from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise
from grader.course.lookup import entries
from grader.course.markdown import escaped, fenced, linked, prose
from grader.course.statement import FINE, Statement
from grader.publish.book import capstones, cells, shapes, symptoms
from grader.publish.book.places import place_of, place_of_symptom

_PICTURE = re.compile(r"\]\((?:\.\./)+docs/pictures/")
_SYMPTOM = re.compile(r"\]\(\.\./symptoms(?:/\w+\.md#(?P<name>[\w-]+))?\)")
_ALONE = "---\norphan: true\n---\n\n"
"""Pages that the sidebar of each page lists by itself: as one tree they would take a minute."""


@dataclass(frozen=True)
class Page:
    """A page: its place in the book, without an ending, and its text."""

    place: str
    text: str


@dataclass(frozen=True)
class PageGroup:
    """Pages under one title in the sidebar: the title of each by its place."""

    title: str
    pages: dict[str, str]


def pages(catalog: Catalog) -> Iterator[Page]:
    """All of them: the look-up, symptoms, a chapter for each section, each statement, and the indexes."""
    told = list(entries.symptoms(catalog))
    yield _front(catalog, told)
    slugs = {e.slug: f"../{place_of(e)}.md" for e in catalog.exercises}
    for entry in told:
        if entry.symptom:
            text = symptoms.page(entry, entry.symptom, slugs)
            yield Page(place_of_symptom(entry.symptom), _ALONE + text)
    for section in catalog.sections:
        yield _chapter(catalog, section)
        for exercise in section.exercises:
            yield _statement(catalog, exercise)
    yield _calls(catalog)
    yield _concepts(catalog)
    yield _messages(catalog)
    yield _efforts(catalog)


def sidebar(catalog: Catalog) -> list[PageGroup]:
    """What sidebars list above all sections: symptoms by kind, and each section's steps and exercises."""
    told = symptoms.by_kind(list(entries.symptoms(catalog)))
    kinds = [PageGroup(kind, {place_of_symptom(one): one.name for one in held}) for kind, held in told]
    rows = [
        PageGroup(title, {place_of(e): e.title for e in section.exercises if e.is_step == is_step})
        for section in catalog.sections
        for title, is_step in (("Steps", True), ("Exercises", False))
    ]
    return [*kinds, *(group for group in rows if group.pages)]


def beside(groups: Sequence[PageGroup], place: str) -> list[PageGroup]:
    """Those of a page: its own kind of symptoms, or all of its section."""
    folder = place.rpartition("/")[0]
    if folder == symptoms.FOLDER:
        return [group for group in groups if place in group.pages]
    return [group for group in groups if any(page.startswith(f"{folder}/") for page in group.pages)]


def _front(catalog: Catalog, told: Sequence[entries.Entry]) -> Page:
    steps = sum(e.is_step for e in catalog.exercises)
    chapters = "\n".join(f"{s.title} <{s.name}/index>" for s in catalog.sections)
    return Page(
        "index",
        f"""# Look it up

<p><label for="asked">What do you see? In your own words, or the error as it was printed:</label></p>
<textarea id="asked" rows="2" placeholder="loss is NaN after 2000 steps with amp"></textarea>
<p id="nearest" aria-live="polite"></p>
<ol id="found"></ol>
<script src="_static/lookup.js"></script>
<script src="_static/book.js"></script>

Or turn to [the messages of errors](messages.md), to [calls, with the shapes that come back](calls.md), to
[concepts](concepts.md), or to [something for ten minutes](efforts.md).

## Symptoms

<div class="symptoms">
{symptoms.listed(told)}
</div>

## The course

torchkata is a kata for PyTorch: {len(catalog.sections)} sections from a first `torch.tensor` to a profiled,
sharded, deployed model, {steps} first steps and {len(catalog.exercises) - steps} exercises. Here is all that
there is to read: each section's chapter and what is asked. Answers are written in an editor and judged as you
save, by `kata watch`. {capstones.lead(catalog)}

```{{toctree}}
:caption: Sections
:maxdepth: 1

{chapters}
```

```{{toctree}}
:caption: Look up
:maxdepth: 1

messages
calls
concepts
efforts
```
""",
    )


def _chapter(catalog: Catalog, section: Section) -> Page:
    text = _PICTURE.sub("](../pictures/", chapter.text_of(section.name)) or f"# {section.title}\n"
    pages = {e.slug: f"../{place_of(e)}.md" for e in catalog.exercises}
    parts = [linked(_SYMPTOM.sub(_symptom, text), pages.get)]
    for title, held in (("First steps", True), ("Exercises", False)):
        exercises = [e for e in section.exercises if e.is_step == held]
        if exercises:
            rows = "\n".join(f"- [{escaped(e.title)}]({e.slug}.md) {e.effort}".rstrip() for e in exercises)
            parts.append(f"## {title}\n\n{rows}\n")
    return Page(f"{section.name}/index", "\n\n".join(parts))


def _symptom(found: re.Match[str]) -> str:
    """A link to a symptom, from the files to the pages: anchors have `-` where pages have `_`."""
    name = found["name"]
    return f"](../symptoms/{name.replace('-', '_')}.md)" if name else "](../index.md#symptoms)"


def _statement(catalog: Catalog, exercise: Exercise) -> Page:
    said = Statement.of(_start(exercise))
    parts = [f"# {escaped(exercise.title)}", _about(catalog, exercise), f"**{escaped(said.title)}**"]
    parts += [prose(said.job), picture(said)]
    if said.fine is not None:
        parts += [f"## {FINE.rstrip(':')}", prose(said.fine)]
    if said.code:
        parts += ["## Start", f"`{exercise.relative}`", fenced(said.code)]
    parts += [_hint(number, hint) for number, hint in enumerate(exercise.hints, start=1)]
    parts.append(capstones.how(exercise))
    if exercise.reading:
        parts.append(f"To read: <{exercise.reading}>")
    return Page(place_of(exercise), _ALONE + "\n\n".join(part for part in parts if part) + "\n")


def picture(said: Statement) -> str:
    """Its example, where its numbers are written out; else what its function takes and gives, as boxes."""
    call = example.call_of(said)
    if call and call.is_written_out:
        return cells.picture(call)
    return shapes.picture(said.code) or (shapes.of_sizes(call) if call else "")


def _start(exercise: Exercise) -> str:
    """The file as it is handed out, also where somebody has solved it; only its words where it is nowhere."""
    try:
        return exercise.text(starts.content(exercise))
    except KataError:
        file = exercise.file("exercises")
        said = Statement.of(exercise.text(exercise.content("exercises")) if file.is_file() else "")
        return f'"""{said.title}\n\n{said.job}\n"""\n'


def _about(catalog: Catalog, exercise: Exercise) -> str:
    kind = "step" if exercise.is_step else "capstone" if exercise.is_capstone else "exercise"
    optional = ", optional" if exercise.optional else ""
    section = next(s for s in catalog.sections if s.name == exercise.section)
    told = [f"[{section.title}](index.md): {kind}, {exercise.kind}{optional}", exercise.effort]
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


def _where(entry: entries.Entry) -> str:
    chapter_of = f"[{entry.section}]({entry.section}/index.md)"
    return ", ".join(map(_link, entry.exercises)) or f"the chapter {chapter_of}"


def _table(head: str, rows: Iterable[str]) -> str:
    columns = head.count("|") + 1
    return "\n".join([f"| {head} |", "|" + "---|" * columns, *(f"| {row} |" for row in rows)])


def _calls(catalog: Catalog) -> Page:
    pages = {e.slug: f"{place_of(e)}.md" for e in catalog.exercises}
    rows = [
        f"`{entry.name}` | {linked(entry.tells, pages.get)} | {_where(entry)}"
        for entry in sorted(entries.calls(catalog), key=lambda entry: _called(entry.name))
    ]
    table = _table("Call | What comes back | Where", rows)
    return Page("calls", f"# Calls\n\nBy their last name, as they stand in the chapters.\n\n{table}\n")


def _called(call: str) -> str:
    """What a call is looked up by: `gather` of ``x.gather(1, n)``."""
    found = re.findall(r"(\w+)\(", call)
    return (found[-1] if found else call).casefold()


def _concepts(catalog: Catalog) -> Page:
    rows = [f"{escaped(entry.name)} | {_where(entry)}" for entry in entries.concepts(catalog)]
    return Page("concepts", f"# Concepts\n\n{_table('Concept | Where', rows)}\n")


def _messages(catalog: Catalog) -> Page:
    rows = [
        f"{escaped(entry.name)} | {entry.tells or '…'} | {_where(entry)}"
        for entry in sorted(entries.messages(catalog), key=lambda entry: entry.name.casefold())
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
