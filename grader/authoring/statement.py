"""How long a statement may be: that of an exercise, in its job and its fine print, and that of a step."""

import re
from collections.abc import Iterator

from grader.course.exercise import Exercise
from grader.course.statement import Statement

MOST_WORDS = 120
"""Of prose, for the job."""

MOST_LINES = 12
"""For the fine print."""

STEP_WORDS = 80
"""Of prose, for a step."""

EXAMPLE_COLUMNS = 78
"""For a line of a step's worked example, so that it is whole on any screen."""

NEW = "New here:"
"""Begins the line of a step that gives the syntax of what it introduces."""


def read(exercise: Exercise) -> Statement:
    """What the exercise's file says."""
    return Statement.of(exercise.file("exercises").read_text("utf-8"))


def problems(exercise: Exercise) -> Iterator[str]:
    """What is too long, or is missing."""
    said = read(exercise)
    count = words(said)
    if exercise.is_step:
        yield from _step_problems(said, count)
    if said.fine is None:
        return
    if count > MOST_WORDS:
        yield f"the job has {count} words, and {MOST_WORDS} are room enough: shorten the statement"
    lines = len(said.fine.splitlines())
    if lines > MOST_LINES:
        yield f"the fine print has {lines} lines, and {MOST_LINES} are room enough: drop some"


def words(said: Statement) -> int:
    """The words of the job's prose. What is indented is code, or an example."""
    prose = [line for line in (said.title, *said.job.splitlines()) if not line.startswith("    ")]
    return sum(bool(re.search(r"\w", word)) for line in prose for word in line.split())


def _step_problems(said: Statement, count: int) -> Iterator[str]:
    if count > STEP_WORDS:
        yield f"the statement has {count} words, and {STEP_WORDS} are room enough for a step"
    if not re.search(rf"^{NEW} ", said.job, re.MULTILINE):
        yield f"the statement lacks a line {NEW!r} with the syntax that the step introduces"
    if not re.search(r"^    \S", said.job, re.MULTILINE):
        yield "the statement lacks a worked example, indented by four"
    for line in said.job.splitlines():
        if line.startswith("    ") and len(line) > EXAMPLE_COLUMNS:
            told = f"{len(line)} columns, and {EXAMPLE_COLUMNS} fit on any screen"
            yield f"the worked example has a line of {told}: put its remark below it: {line.strip()[:30]}…"
    if said.fine is not None:
        yield "a step has no fine print"
