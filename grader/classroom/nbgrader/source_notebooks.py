"""An nbgrader course: of every section a source notebook, made from the same five places as all else.

A section's steps are an assignment of their own. They are twice as many as its exercises, and a course sets
them earlier, or leaves them to whoever wants them: who is to merge heads need not scroll past them all first.
"""

import ast
import base64
import json
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grader.classroom.grading.grade import MOST_SEEDS
from grader.core import atomic_write
from grader.core.errors import KataError
from grader.course import chapter, markdown, sources, starts
from grader.course.catalog import Catalog, Section
from grader.course.cell_names import answer_cell
from grader.course.exercise import Exercise
from grader.notebooks.start import split

_PICTURE = re.compile(r"\]\((?:\.\./)+docs/pictures/(\w+)\.svg\)")
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

CONFIG = '''"""What nbgrader must know about this course. Run its commands in this folder."""

c = get_config()  # noqa: F821

# A cell holds the start that students get, and below it the reference: nothing takes the reference's place.
c.ClearSolutions.code_stub = {"python": ""}

# The first check starts an engine; a check then takes as long as its exercise may.
c.Execute.timeout = 300

# Answers are judged as `kata grade` does it: in a sandbox, with the same scores. A student's notebook is not
# run. Delete this to have nbgrader run notebooks itself, with all that students wrote, unconfined.
c.Autograde.autograde_preprocessors = [
    "grader.classroom.nbgrader.autograder.JudgeAnswers",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "grader.classroom.nbgrader.autograder.EnterScores",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# What students write as Markdown is shown, and does not run in the Jupyter of whoever grades.
c.HTMLExporter.filters = {"markdown2html": "grader.classroom.nbgrader.markdown.shown"}

# Where bubblewrap cannot run: "off" judges without the sandbox.
c.JudgeAnswers.sandbox = "required"

# From this the inputs of checks are drawn: keep it to yourself.
c.JudgeAnswers.seed = {seed}
'''


def write(target: Path, catalog: Catalog, only: list[str] | None) -> list[str]:
    """Write the course to `target`, a new or empty folder; returns its assignments.

    A project, whose answer is a folder, is left out.

    Raises:
        KataError: `target` holds something or cannot be written, there are no solutions here, an exercise's
            file is not its start, or all are projects.
    """
    chosen = {e for e in catalog.select(only) if not e.is_project}
    if not chosen:
        raise KataError("a notebook holds no folders, and only projects were asked for; see `kata release`")
    atomic_write.expect_room(target)
    lacking = [e.slug for e in chosen if not e.file("solutions").is_file()]
    if lacking:
        raise KataError(
            f"there is no solution of {min(lacking)} here; make notebooks in a clone that was not released"
        )
    starts.expect(e for e in catalog.select(only) if e in chosen)
    made = []
    try:
        for section in catalog.assignments:
            exercises = [e for e in section.exercises if e in chosen]
            if exercises:
                folder = target / "source" / section.name
                folder.mkdir(parents=True)
                text = json.dumps(notebook(section, exercises), ensure_ascii=False, indent=1)
                (folder / f"{section.name}.ipynb").write_text(f"{text}\n", "utf-8")
                made.append(section.name)
        text = CONFIG.replace("{seed}", str(secrets.randbelow(MOST_SEEDS)))
        (target / "nbgrader_config.py").write_text(text, "utf-8")
    except OSError as error:
        raise KataError(f"cannot write {target}: {error.strerror}; choose another folder") from None
    return made


def notebook(section: Section, exercises: Iterable[Exercise]) -> dict[str, Any]:
    """The source notebook of an assignment: its chapter, then three cells for each exercise."""
    cells = [_chapter(section)]
    for exercise in exercises:
        cells.append(_text(f"{exercise.slug}-statement", _statement(exercise)))
        cells.append(_code(answer_cell(exercise.slug), _answer(exercise), solution=True))
        cells.append(_code(exercise.slug, _checks(exercise), grade=True, locked=True, points=exercise.points))
    metadata = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _chapter(section: Section) -> dict[str, Any]:
    """The chapter, with its pictures in the cell: a notebook travels alone."""
    text = chapter.text_of(section.name) or f"# {section.title}"
    pictures = (
        place for name in _PICTURE.findall(text) for place in sources.each("docs", "pictures", f"{name}.svg")
    )
    files = [file for file in pictures if file.is_file()]
    cell = _text("chapter", _PICTURE.sub(r"](attachment:\1.svg)", text))
    if files:
        held = {file.name: base64.b64encode(file.read_bytes()).decode() for file in files}
        cell["attachments"] = {name: {"image/svg+xml": content} for name, content in held.items()}
    return cell


def headline(exercise: Exercise) -> str:
    """The first line of a statement's cell."""
    points = f" ({exercise.points:g} point{'s' if exercise.points != 1 else ''})"
    return f"## {exercise.order}. {exercise.title}{'' if exercise.is_extra else points}"


def _statement(exercise: Exercise) -> str:
    docstring = ast.get_docstring(ast.parse(split(exercise.file("exercises"))[0])) or ""
    told = f"{headline(exercise)}\n\n{markdown.prose(docstring)}"
    return f"{told}\n\nTo read: {exercise.reading}" if exercise.reading else told


def _answer(exercise: Exercise) -> str:
    """The start, as students get it, and the reference in a region that nbgrader takes out."""
    if exercise.is_project:  # in what formgrader shows
        return ""
    start, reference = (split(exercise.file(tree))[1].strip("\n") for tree in ("exercises", "solutions"))
    return f"{start}\n### BEGIN SOLUTION\n{reference}\n### END SOLUTION"


def _checks(exercise: Exercise) -> str:
    """What students run, and what only grading runs: a line each, so that no suite is ever shown."""
    seen = f'from grader import check\n\ncheck("{exercise.slug}")'
    hidden = f'from grader import score\n\nscore("{exercise.slug}")'
    return f"{seen}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"


def _text(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(name: str, source: str, **about: Any) -> dict[str, Any]:
    flags = {"grade": False, "locked": False, "solution": False, "task": False, **about}
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {"nbgrader": {**flags, "grade_id": name, "schema_version": 3}},
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }
