"""Notebooks that `kata grade` writes for formgrader. Nobody handed them in, unless somebody changed them."""

import hashlib
import json
from typing import Any

from grader.classroom.submissions.notebook import read
from grader.core.errors import KataError

MARK = "torchkata"
"""They have this in their metadata."""


def mark(notebook: Any, student: str) -> None:
    """Mark a notebook with the code that it has now."""
    notebook["metadata"][MARK] = {"student": student, "code": _code(notebook)}


def is_generated(notebook: Any) -> bool:
    """Whether it was written here and has its code of then; marks of before did not tell which that was."""
    try:
        about = notebook["metadata"][MARK]
        return bool(about.get("code", known := _code(notebook)) == known)
    except (AttributeError, KeyError, TypeError):
        return False


def holds_generated(content: bytes) -> bool:
    """Whether these are the bytes of such a notebook."""
    if f'"{MARK}"'.encode() not in content:
        return False
    try:
        return is_generated(read(content))
    except KataError:
        return False


def _code(notebook: Any) -> str:
    """What somebody may write: nbgrader puts back what is locked."""
    own = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and not _is_locked(cell)]
    texts = ["".join(cell["source"]) for cell in own]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


def _is_locked(cell: Any) -> bool:
    about = cell["metadata"].get("nbgrader")
    return isinstance(about, dict) and bool(about.get("locked"))
