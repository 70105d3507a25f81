"""What a file or a notebook that was handed in holds: the texts of answers, or why there is none."""

import json
import re
from collections.abc import Mapping

from grader.core.errors import KataError
from grader.course.catalog import Catalog
from grader.submissions.io.folders import Refused

MAX_BYTES = 1 << 20
MAX_NOTEBOOK = 32 << 20

MARK = "torchkata"
"""Notebooks that `kata grade` writes for formgrader have this in their metadata; nobody handed them in."""


def text(content: bytes) -> bytes:
    """A file's content, if it is a text that can be judged."""
    if len(content) > MAX_BYTES:
        raise Refused("is larger than 1 MiB")
    if b"\0" in content:
        raise Refused("holds null bytes")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("is not UTF-8; save it as UTF-8 text") from None
    return content


def is_generated(notebook: bytes) -> bool:
    """Whether `kata grade` has written it for formgrader."""
    if f'"{MARK}"'.encode() not in notebook:
        return False
    try:
        return MARK in json.loads(notebook)["metadata"]
    except (ValueError, TypeError, LookupError, RecursionError, MemoryError):
        return False


def cells(content: bytes, catalog: Catalog) -> Mapping[str, bytes]:
    """The answers in a notebook, by slug."""
    try:
        from grader.submissions.notebook import answers_in
    except ImportError:
        raise Refused("is a notebook, which cannot be read here; hand in .py files") from None
    try:
        return answers_in(content, catalog)
    except Exception as broken:  # whatever it stumbles over, it is this student's notebook alone
        if isinstance(broken, KataError):
            raise Refused(f"is not read: {broken}") from None
        words = re.sub(r"\s+", " ", str(broken))[:160] or type(broken).__name__
        raise Refused(f"is no notebook that can be read ({words})") from None
