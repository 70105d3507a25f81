"""Text that an answer may have written, made safe to keep and to show."""

import re

MOST_CHARACTERS, MOST_LINES = 4000, 15
MOST_IN_LINE = 200


_STYLE = re.compile(r"\x1b\[[0-9;:]*m")
"""Colours and bold print, which torch has in some messages."""


def plain(text: str) -> str:
    """Printable characters and line ends only: no terminal escapes, no text that runs backwards."""
    text = text.replace("\t", " ")
    if text.replace("\n", "").isprintable():  # nearly always, and known at once
        return text
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in _STYLE.sub("", text))


def message(text: str) -> str:
    """`plain`, and no longer than feedback is."""
    lines = plain(text[:MOST_CHARACTERS]).split("\n")
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = ["…"]
    return "\n".join(lines)


def one_line(text: str) -> str:
    """`plain`, on one line, with single blanks, and not long."""
    return " ".join(plain(text[:MOST_CHARACTERS]).split())[:MOST_IN_LINE]


def message_of(error: BaseException) -> str:
    """What an error says of itself, by code that may be anybody's."""
    try:
        return str(error)
    except Exception:
        return "(its message cannot be shown)"
