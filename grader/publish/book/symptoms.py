"""The pages of the book that tell what to look at when something goes wrong."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from grader.course.lookup.entries import Entry
from grader.course.lookup.symptoms import FOLDER, Probe, Symptom
from grader.course.markdown import escaped, linked
from grader.publish.book.places import place_of, place_of_symptom

__all__ = ["FOLDER", "by_kind", "listed", "page"]


def by_kind(entries: Sequence[Entry]) -> Iterator[tuple[str, list[Symptom]]]:
    """The symptoms of each kind, as their files tell of them."""
    told = [entry.symptom for entry in entries if entry.symptom]
    for kind, held in groupby(told, lambda symptom: symptom.kind):
        yield kind, list(held)


def listed(entries: Sequence[Entry]) -> str:
    """All of them, by kind: for the first page."""
    return "\n".join(
        f"<div><p>{kind}</p><ul>"
        + "".join(f'<li><a href="{place_of_symptom(one)}.html">{one.name}</a></li>' for one in held)
        + "</ul></div>"
        for kind, held in by_kind(entries)
    )


def page(entry: Entry, symptom: Symptom, pages: Mapping[str, str]) -> str:
    """What to print, what it tells and what to do, in order; and where it is practised."""
    steps = "\n".join(_step(number, check, pages) for number, check in enumerate(symptom.checks, start=1))
    rows = "\n".join(f"- [{e.slug}](../{place_of(e)}.md): {escaped(e.title)}" for e in entry.exercises)
    said = escaped("; ".join(symptom.said))
    return f"""# {escaped(symptom.name)}

Also told as: *{said}*.

## Look at, in order

{steps}

## To practise

{rows}
"""


def _step(number: int, check: Probe, pages: Mapping[str, str]) -> str:
    command = check.look.removeprefix("$ ")
    language = "python" if check.look == command else "sh"
    tells, do = (linked(text.strip(), pages.get) for text in (check.tells, check.do))
    text = f"```{language}\n{command}\n```\n\n{tells}\n\n→ {do}\n"
    return f"{number}. " + textwrap.indent(text, "   ").lstrip()
