"""What an exercise's start consists of, for whoever puts it into cells or takes it out of them."""

import ast
from functools import cache
from pathlib import Path

from grader.core.source_names import asked_for


@cache
def split(file: Path) -> tuple[str, str]:
    """A file's docstring with the empty lines below it, and its code: a notebook shows them in two cells."""
    text = file.read_text("utf-8")
    tree = ast.parse(text)
    if not tree.body or ast.get_docstring(tree) is None:
        return "", text
    lines = text.splitlines(keepends=True)
    end = tree.body[0].end_lineno or 0
    while end < len(lines) and not lines[end].strip():
        end += 1
    return "".join(lines[:end]), "".join(lines[end:])


@cache
def asked(file: Path) -> tuple[str, ...]:
    """The names that an exercise asks for."""
    return tuple(asked_for(file.read_text("utf-8")))
