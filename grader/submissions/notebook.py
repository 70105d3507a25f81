"""Read the answers out of a notebook that was handed in: of each exercise the text that its file would hold.

A notebook is somebody else's and anything may have happened to it: cells are split, copied, moved or
deleted, the metadata that names them is gone, a helper stands in a cell of its own. So an answer is put
together (`grader.submissions.notebook_answer`). Nothing is run.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grader.core.errors import KataError
from grader.core.source_names import binds, python
from grader.course.catalog import Catalog, Section
from grader.course.cell_names import answer_cell
from grader.submissions.notebook_answer import Cell, asked, gathered

MOST_BYTES = 32 << 20
"""Outputs are read over, but pictures in them are large."""

MOST_CODE = 1 << 19
MOST_LINES = 20_000
MOST_CELLS = 2000
"""Characters, lines and cells of code: some ten times what the largest section takes."""

_CHECKS = re.compile(r"^\s*check\(\s*[\"'](\w+)[\"']", re.MULTILINE)
_ANSWER = answer_cell("")


def answers_in(notebook: bytes, catalog: Catalog) -> dict[str, bytes]:
    """The text of every answer in a notebook, by slug; a project's is a folder, and no notebook holds it.

    Cells that have lost their metadata are known by the names that they define. A catalog that holds
    only the section which was to be handed in makes sure that no other's exercise is meant.

    Raises:
        KataError: it is no notebook, or too large a one.
    """
    cells = _cells(notebook)
    found: dict[str, bytes] = {}
    for section in _sections(cells, catalog):
        for exercise in section.exercises:
            answer = None if exercise.is_project else gathered(exercise, cells)
            if answer is not None:
                found[exercise.slug] = answer.text.encode("utf-8", "replace")
    return found


def _cells(notebook: bytes) -> list[Cell]:
    if len(notebook) > MOST_BYTES:
        raise KataError(f"the notebook is larger than {MOST_BYTES >> 20} MiB; clear its outputs and save it")
    try:
        data = json.loads(notebook)
    except (ValueError, RecursionError, MemoryError):
        raise KataError("the notebook is not JSON: it is damaged or no notebook; save it again") from None
    found = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise KataError("the notebook has no list of cells; save it as a notebook of format 4")
    cells = [cell for one in found if isinstance(one, dict) and (cell := _cell(one)) is not None]
    _expect_sizes(cells)
    return [replace(cell, text=python(cell.text)) for cell in cells]


def _expect_sizes(cells: Sequence[Cell]) -> None:
    """Reading code takes time, and somebody may have thought of that."""
    sizes = (
        (len(cells), MOST_CELLS, "cells of code"),
        (sum(len(cell.text) for cell in cells), MOST_CODE, "characters of code"),
        (sum(cell.text.count("\n") for cell in cells), MOST_LINES, "lines of code"),
    )
    for size, most, what in sizes:
        if size > most:
            raise KataError(f"the notebook holds {size} {what}, more than {most}; take data out of its cells")


def _cell(cell: dict[str, Any]) -> Cell | None:
    """A cell of code, or one that was made to hold an answer and was turned into something else."""
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    if isinstance(name, str) and name.endswith(_ANSWER):
        return Cell(text, answers=name.removesuffix(_ANSWER))
    if cell.get("cell_type") != "code":
        return None
    if isinstance(name, str):
        return Cell(text, checks=name)
    named = _CHECKS.findall(text)
    return Cell(text, checks=named[-1] if named else None)


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
