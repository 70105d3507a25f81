"""What exercises are worth by the notebooks of an nbgrader course, brought to what they are worth now.

`nbgrader generate_assignment` takes points out of `source/` into the gradebook, and formgrader shows those
that stand in a student's notebook, whatever the gradebook has.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grader.classroom.nbgrader.source_notebooks import headline
from grader.core import atomic_write
from grader.course.catalog import Catalog, Section
from grader.course.exercise import Exercise


def source(folder: Path, section: Section) -> Path:
    """The notebook that an assignment of the course `folder` is made from."""
    return folder / "source" / section.name / f"{section.name}.ipynb"


def are_old(folder: Path, catalog: Catalog) -> bool:
    """Whether an exercise is worth something else now than by the course's notebooks."""
    return any(revalue(_read(source(folder, one)), one.exercises) for one in catalog.assignments)


def renew(folder: Path, sections: Iterable[Section]) -> list[str]:
    """Write today's points into the course's notebooks; returns the assignments where any were others.

    Raises:
        OSError: one cannot be written.
    """
    changed = []
    for section in sections:
        file = source(folder, section)
        notebook = _read(file)
        if revalue(notebook, section.exercises):
            atomic_write.write(file, json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")
            changed.append(section.name)
    return changed


def revalue(notebook: Any, exercises: Iterable[Exercise]) -> bool:
    """Give the cells of a notebook the points that exercises have now; True where they had others."""
    tests = {exercise.slug: exercise for exercise in exercises}
    statements = {f"{exercise.slug}-statement": exercise for exercise in tests.values()}
    found = False
    for cell in notebook.get("cells", ()):
        about = cell.get("metadata", {}).get("nbgrader", {})
        exercise = tests.get(about.get("grade_id", ""))
        if exercise and about.get("grade") and about.get("points") != exercise.points:
            about["points"] = exercise.points
            found = True
        if exercise := statements.get(cell.get("id", "")):
            _revalue_statement(cell, exercise)
    return found


def _revalue_statement(cell: Any, exercise: Exercise) -> None:
    """The points in a statement's first line, where nobody has written another one."""
    text = "".join(cell["source"])
    first, end, rest = text.partition("\n")
    title = headline(exercise)
    if first != title and re.sub(_WORTH, "", first) == re.sub(_WORTH, "", title):
        source = f"{title}{end}{rest}"
        cell["source"] = source if isinstance(cell["source"], str) else source.splitlines(keepends=True)


_WORTH = re.compile(r" \([\d.]+ points?\)$")


def _read(file: Path) -> Any:
    """The notebook; an empty one where there is none, or where it will be told that it cannot be read."""
    try:
        found = json.loads(file.read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}
