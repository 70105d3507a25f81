"""Read the answers out of a notebook that was handed in: of each exercise the text that its file would hold.

A notebook is somebody else's and anything may have happened to it: cells are split, copied, moved or
deleted, the metadata that names them is gone, a helper stands in a cell of its own. So an answer is put
together (`grader.notebooks.notebook_answer`). Nothing is run.
"""

import difflib
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.core.cell_text import python
from grader.core.errors import KataError
from grader.core.source_names import binds, defines, is_python, statements
from grader.course.catalog import Catalog, Section
from grader.course.cell_names import answer_cell
from grader.course.exercise import Exercise
from grader.notebooks.cell_choice import Cell
from grader.notebooks.notebook_answer import gathered
from grader.notebooks.start import asked

MOST_BYTES = 32 << 20
"""Outputs are read over, but pictures in them are large."""

MOST_CODE = 1 << 19
MOST_LINES = 20_000
MOST_CELLS = 2000
"""Characters, lines and cells of code: some ten times what the largest section takes."""

_LONGEST_NUMBER = 300
_LONGEST_NAME = 80
_TOO_MANY = "has too many functions to tell what they answer"
_MOST_FUNCTIONS = 300
"""In no answer, of which each is compared with what is asked for."""

_CHECKS = re.compile(r"^[ \t]*check\([ \t]*[\"'](\w+)[\"']", re.MULTILINE)
_DEFINED = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_ANSWER = answer_cell("")


@dataclass(frozen=True)
class NotebookAnswers:
    """What a notebook holds: the texts of answers, by slug, and notes on what was chosen among several.

    Where cells may hold an answer of which nobody can tell what it answers, `why` says so, and `doubtful`
    has the exercises without an answer that come into question; none where all do.
    """

    answers: dict[str, bytes]
    notes: tuple[str, ...] = ()
    doubtful: tuple[Exercise, ...] = ()
    why: str = ""


def held(notebook: bytes, catalog: Catalog, known: Catalog | None = None) -> NotebookAnswers:
    """What a notebook holds; a project's answer is a folder, and no notebook holds it.

    Cells that have lost their metadata are known by the names that they define. A catalog that holds
    only the section which was to be handed in makes sure that no other's exercise is meant; `known` has all
    exercises that cells may be called after.

    Raises:
        KataError: it is no notebook, or too large a one.
    """
    cells = _cells(notebook, {exercise.slug for exercise in (known or catalog).exercises})
    meant = [e for section in _sections(cells, catalog) for e in section.exercises if not e.is_project]
    found = {e: answer for e in meant if (answer := gathered(e, cells)) is not None}
    taken = frozenset[int]().union(*(answer.taken for answer in found.values()))
    rest = [c for i, c in enumerate(cells) if i not in taken and c.answers is None and c.text.strip()]
    lacking = [e for e in meant or catalog.exercises if e not in found and not e.is_project]
    names = frozenset[str]().union(*(asked(e.file("exercises")) for e in lacking if rest))
    is_much = sum(len(defines(cell.text)) for cell in rest) > _MOST_FUNCTIONS
    reasons = (_may_answer(cell, names, is_alone=not found) for cell in rest if lacking and not is_much)
    why = next(filter(None, reasons), _TOO_MANY if is_much and lacking else "")
    notes = dict.fromkeys(note for answer in found.values() for note in answer.notes)
    texts = {e.slug: answer.text.encode("utf-8", "replace") for e, answer in found.items()}
    return NotebookAnswers(texts, tuple(notes), tuple(lacking) if meant else (), why)


def answers_in(notebook: bytes, catalog: Catalog) -> dict[str, bytes]:
    """The text of every answer in a notebook, by slug; raises KataError as `held` does."""
    return held(notebook, catalog).answers


def _may_answer(cell: Cell, wanted: frozenset[str], *, is_alone: bool) -> str:
    """Why a cell that is in no answer may be one to what asks for these names; "" where it is none."""
    if cell.is_renamed:
        return "has an answer in a cell of another name"
    if not is_python(cell.text):
        named = frozenset(_DEFINED.findall(cell.text))
        return "has code that is no Python" if is_alone or named & wanted else ""
    for name in defines(cell.text):
        if len(name) <= _LONGEST_NAME and (near := difflib.get_close_matches(name, wanted, 1, 0.8)):
            return f"has {name}, which may be meant for {near[0]}"
    is_code = any(not (one.is_check or one.imports) for one in statements(cell.text))
    return "has code that answers no exercise by its names" if is_alone and is_code else ""


def _cells(notebook: bytes, slugs: Collection[str]) -> list[Cell]:
    if len(notebook) > MOST_BYTES:
        raise KataError(f"the notebook is larger than {MOST_BYTES >> 20} MiB; clear its outputs and save it")
    found = read(notebook).get("cells")
    if not isinstance(found, list):
        raise KataError("the notebook has no list of cells; save it as a notebook of format 4")
    texts = [(one, _text(one)) for one in found if isinstance(one, dict)]
    _expect_sizes([text for one, text in texts if one.get("cell_type") == "code" or _name(one)])
    cells = [cell for one, text in texts if (cell := _cell(one, text, slugs)) is not None]
    return [replace(cell, text=python(cell.text)) for cell in cells]


def read(notebook: bytes) -> dict[str, Any]:
    """A notebook's JSON; of numbers that no notebook has, none is worked out.

    Raises:
        KataError: it is none.
    """
    try:
        data = json.loads(notebook, parse_int=_number)
    except (ValueError, RecursionError, MemoryError):
        raise KataError("the notebook is not JSON: it is damaged or no notebook; save it again") from None
    return data if isinstance(data, dict) else {}


def _number(digits: str) -> int:
    """To work out a long one takes time that grows with its square."""
    return int(digits) if len(digits) < _LONGEST_NUMBER else 0


def _expect_sizes(texts: Sequence[str]) -> None:
    """Reading code takes time, and somebody may have thought of that."""
    sizes = (
        (len(texts), MOST_CELLS, "cells of code"),
        (sum(map(len, texts)), MOST_CODE, "characters of code"),
        (sum(text.count("\n") for text in texts), MOST_LINES, "lines of code"),
    )
    for size, most, what in sizes:
        if size > most:
            raise KataError(f"the notebook holds {size} {what}, more than {most}; take data out of its cells")


def _text(cell: dict[str, Any]) -> str:
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def _name(cell: dict[str, Any]) -> str:
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    return name if isinstance(name, str) else ""


def _cell(cell: dict[str, Any], text: str, slugs: Collection[str]) -> Cell | None:
    """A cell of code, or one that was made to hold an answer and was turned into something else."""
    name = _name(cell)
    if name.endswith(_ANSWER) and (slug := name.removesuffix(_ANSWER)) in slugs:
        return Cell(text, answers=slug)
    if cell.get("cell_type") != "code":
        return None
    if name in slugs:
        return Cell(text, checks=name)
    named = _CHECKS.findall(text)
    is_answer = name.endswith(_ANSWER) and name != _ANSWER
    return Cell(text, checks=named[-1] if named else None, is_renamed=is_answer)


def _sections(cells: Sequence[Cell], catalog: Catalog) -> Sequence[Section]:
    """The assignments that the cells name, or else the one that asks for most of what they define."""
    slugs = {cell.answers for cell in cells} | {cell.checks for cell in cells}
    named = [s for s in catalog.assignments if any(e.slug in slugs for e in s.exercises)]
    if named:
        return named
    defined = frozenset().union(*(binds(cell.text) for cell in cells))
    counts = {
        one: sum(len(defined.intersection(asked(e.file("exercises")))) for e in one.exercises)
        for one in catalog.assignments
    }
    likeliest = max(counts, key=lambda one: (counts[one], not one.exercises[0].is_step), default=None)
    return [likeliest] if likeliest and counts[likeliest] else []
