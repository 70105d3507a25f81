"""The statement of an exercise: the job, and under the line `Fine print:` what goes beyond it.

That of a step is shorter, has no fine print, and gives the syntax that is new.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.course.catalog import Exercise

MOST_WORDS = 120
"""Of prose, for the job."""

MOST_LINES = 12
"""For the fine print."""

STEP_WORDS = 80
"""Of prose, for a step."""

NEW = "New here:"
"""Begins the line of a step that gives the syntax of what it introduces."""

_LINE = re.compile(r"^Fine print:\n", re.MULTILINE)


@dataclass(frozen=True)
class Statement:
    """The two parts of a statement; `fine` is None where it has no line between them (the first form)."""

    job: str
    fine: str | None
    is_step: bool = False

    @property
    def words(self) -> int:
        """The words of the job's prose. What is indented is code, or an example."""
        prose = [line for line in self.job.splitlines() if not line.startswith("    ")]
        return sum(bool(re.search(r"\w", word)) for line in prose for word in line.split())

    def problems(self) -> Iterator[str]:
        """What is too long, or is missing."""
        if self.is_step:
            yield from self._step_problems()
        if self.fine is None:
            return
        if self.words > MOST_WORDS:
            yield f"the job has {self.words} words, and {MOST_WORDS} are room enough: shorten the statement"
        lines = len(self.fine.strip().splitlines())
        if lines > MOST_LINES:
            yield f"the fine print has {lines} lines, and {MOST_LINES} are room enough: drop some"

    def _step_problems(self) -> Iterator[str]:
        if self.words > STEP_WORDS:
            yield f"the statement has {self.words} words, and {STEP_WORDS} are room enough for a step"
        if not re.search(rf"^{NEW} ", self.job, re.MULTILINE):
            yield f"the statement lacks a line {NEW!r} with the syntax that the step introduces"
        if not re.search(r"^    \S", self.job, re.MULTILINE):
            yield "the statement lacks a worked example, indented by four"
        if self.fine is not None:
            yield "a step has no fine print"


def read(exercise: Exercise) -> Statement:
    """What the exercise's file says."""
    text = ast.get_docstring(ast.parse(exercise.file("exercises").read_text("utf-8"))) or ""
    job, *fine = _LINE.split(text + "\n", maxsplit=1)
    return Statement(job, fine[0] if fine else None, exercise.is_step)
