"""What is taught after green: the solution's lines beside theirs, why they are so, and the chapter's row."""

import re
import textwrap
from collections.abc import Iterator
from difflib import SequenceMatcher

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader.course import chapter
from grader.course.chapter import Row
from grader.course.exercise import Exercise
from grader.course.statement import code_alone
from grader.learner.watch.folding import Python

_MOST = 6
"""Lines of each side: more are no idiom, and `s` shows them all."""


def of(exercise: Exercise) -> Iterator[RenderableType]:
    """Nothing of what chapter, catalog and solution do not say."""
    pair = beside(exercise)
    if pair:
        table = Table(box=None, expand=True, padding=(0, 1, 0, 0))
        for head in ("yours", "as the solution has it"):
            table.add_column(head, ratio=1, header_style="bold")
        table.add_row(*(Python(lines) for lines in pair))
        yield table
    row = row_of(exercise)
    if row:
        yield Text.assemble(
            (row.name, "cyan"), f"   {row.tells.replace('`', '')}", ("   c opens the chapter", "dim")
        )
    if exercise.why:
        yield Text(exercise.why.replace("`", ""))


def beside(exercise: Exercise) -> tuple[str, str] | None:
    """The first few lines that the solution writes differently, and theirs; None where none are."""
    if not (exercise.file("solutions").exists() and exercise.file("exercises").exists()):
        return None
    mine, theirs = (_lines(exercise.text(exercise.content(tree))) for tree in ("exercises", "solutions"))
    keys = [[re.sub(r"\s|#.*", "", line) for line in lines] for lines in (mine, theirs)]
    for kind, a, b, c, d in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if kind == "replace" and b - a <= _MOST and d - c <= _MOST:
            return textwrap.dedent("\n".join(mine[a:b])), textwrap.dedent("\n".join(theirs[c:d]))
    return None


def _lines(source: str) -> list[str]:
    """The lines inside functions; imports and signatures are no idioms."""
    return [line for line in code_alone(source).splitlines() if line.startswith((" ", "\t")) and line.strip()]


def row_of(exercise: Exercise) -> Row | None:
    """The chapter's row on this: the first of which the solution writes the call."""
    rows = [row for row in chapter.calls(chapter.text_of(exercise.section)) if exercise.slug in row.slugs]
    file = exercise.file("solutions")
    code = code_alone(exercise.text(exercise.content("solutions"))) if file.exists() else ""
    return next(
        (row for row in rows if any(f"{name}(" in code for name in _names(row))), rows[0] if rows else None
    )


def _names(row: Row) -> list[str]:
    return [
        name for name in re.findall(r"(\w+)\(", row.name) if name not in ("tensor", "ones", "zeros", "arange")
    ]
