"""What a file or a notebook that was handed in holds: the texts of answers, or why there is none."""

import re

from grader.classroom.submissions.io.folders import Refused
from grader.classroom.submissions.notebook import NotebookAnswers, held
from grader.core.errors import KataError
from grader.course.catalog import Catalog

MAX_BYTES = 1 << 20
MAX_NOTEBOOK = 32 << 20

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_COOKIE = re.compile(rb"^([ \t\f]*#.*?coding[:=][ \t]*)([-\w.]+)", re.MULTILINE)  # PEP 263
_QUOTES = "“”‘’…–—€°²³µ"


def text(content: bytes) -> tuple[bytes, str]:
    """A file's content in UTF-8, if it is a text that can be judged, and what it was if that was another.

    Read are UTF-16 that says so by its first bytes, and what a line `# -*- coding: cp1252 -*-` names.
    """
    if len(content) > MAX_BYTES:
        raise Refused("is larger than 1 MiB")
    if content.startswith(_UTF16):
        return _decoded(content, "utf-16").encode(), "which is UTF-16"
    if b"\0" in content:
        raise Refused("holds null bytes")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        found = _COOKIE.search(b"\n".join(content.split(b"\n", 2)[:2]))
        if found is None:
            raise Refused(f"is not UTF-8{_likely(content)}; save it as UTF-8 text") from None
        name = found[2].decode("ascii")
        kept = _decoded(content, name)
        return kept.replace(
            found[0].decode("ascii"), f"{found[1].decode()}utf-8", 1
        ).encode(), f"which is {name}"
    return content, ""


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        raise Refused(f"is no {encoding}, though it says so; save it as UTF-8 text") from None


def _likely(content: bytes) -> str:
    """What it is instead, as far as that can be told: bytes that Windows writes for letters and quotes."""
    try:
        told = content.decode("cp1252")
    except UnicodeDecodeError:
        return ""
    others = [letter for letter in told if not letter.isascii()]
    return ", but perhaps cp1252 (Windows)" if all(c.isalpha() or c in _QUOTES for c in others) else ""


def cells(content: bytes, catalog: Catalog, known: Catalog) -> NotebookAnswers:
    """The answers in a notebook, by slug."""
    try:
        return held(content, catalog, known)
    except Exception as broken:  # whatever it stumbles over, it is this student's notebook alone
        if isinstance(broken, KataError):
            raise Refused(f"is not read: {broken}") from None
        words = re.sub(r"\s+", " ", str(broken))[:160] or type(broken).__name__
        raise Refused(f"is no notebook that can be read ({words})") from None
