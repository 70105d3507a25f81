"""Lines that are too long, broken after commas and at words: never inside a string, nor a row of numbers."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_INDENT = 4
_LAST = 100
"""The rank of a place that is taken if there is no other, as in a path."""
_OPEN, _CLOSED = "([{", ")]}"
_SIGNATURE = re.compile(r"(?P<head>\s*(?:async )?def \w+\()(?P<told>.*)(?P<end>\)(?: ->.*)?:.*)")
_ASSIGNED = re.compile(r"[^(:=]* = ")
_TRIPLE = re.compile(r'"""|\'\'\'')


class _Place(NamedTuple):
    """Where a line may be broken, best at the lowest rank; the next line begins at `column`, or hangs."""

    at: int
    rank: int
    column: int
    open: tuple[int, ...]


def code(text: str, width: int) -> str:
    """Code in lines of so many columns: a remark goes below what it is about, then arguments part."""
    lines: list[str] = []
    rows = [(line, _remark(line)) for line in text.split("\n")]
    moved = {at for line, at in rows if at < len(line) > width}  # where remarks stand that do not fit
    beside = {at for line, at in rows if line[:at].strip()}
    is_doc, before = False, ""
    for line, at in rows:
        quotes = len(_TRIPLE.findall(line))
        if is_doc or quotes:
            lines += words(line, width)
        elif at == len(line) or at not in moved:
            lines += _statement(line, width, is_inner=before.endswith("("))
        else:
            written = line[:at].rstrip()
            goes_on = not written and at in beside and bool(lines)
            lines += _statement(written, width) if written else []
            lines += _below(line[at:], _indent(lines[-1] if goes_on else line), width)
        is_doc ^= quotes % 2 == 1
        before = line
    return "\n".join(lines)


def words(line: str, width: int, hang: int | None = None) -> list[str]:
    """A line of words and numbers in several, which hang below its beginning."""
    return _broken(line, width, _indent(line) if hang is None else hang, (), is_code=False)


def _below(remark: str, indent: int, width: int) -> list[str]:
    said = remark.lstrip("#")
    start = " " * indent + "#" * (len(remark) - len(said))
    return [start + piece for piece in words(said, width - len(start))]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _statement(line: str, width: int, *, is_inner: bool = False) -> list[str]:
    indent = _indent(line)
    signature = _SIGNATURE.fullmatch(line)
    if len(line) <= width or signature is None:
        return _broken(line, width, indent if is_inner else indent + _INDENT, (), is_code=True)
    inner = indent + _INDENT
    told, end = " " * inner + signature["told"].rstrip(" ,"), " " * indent + signature["end"]
    return [
        signature["head"],
        *(p for part in (told, end) for p in _broken(part, width, inner, (), is_code=True)),
    ]


def _broken(text: str, width: int, hang: int, held: tuple[int, ...], *, is_code: bool) -> list[str]:
    """`text` in lines; those after the first stand at `hang`, or behind the bracket that is open there."""
    if len(text) <= width:
        return [text]
    assigned = _ASSIGNED.match(text) if is_code and not held else None
    least = max(_indent(text), assigned.end() if assigned else 0)
    places = [p for p in _places(text, held, is_code) if p.at > least and len(text[: p.at].rstrip()) <= width]
    if not places:
        return [text]
    lowest = min(place.rank for place in places)
    place = max((p for p in places if p.rank == lowest), key=lambda p: p.at)
    column, held = place.column, place.open
    if not 0 < column <= width * 2 // 3:
        column, held = hang, (*held[:-1], hang - 1) if held else ()
    rest = " " * column + text[place.at :].lstrip()
    if len(rest) >= len(text):
        return [text]
    return [text[: place.at].rstrip(), *_broken(rest, width, hang, held, is_code=is_code)]


def _places(text: str, before: tuple[int, ...], is_code: bool) -> Iterator[_Place]:
    held, quote = list(before), ""
    for at, letter in enumerate(text):
        depth, last = len(held), text[at - 1 : at] if at else ""
        if quote:
            quote = "" if letter == quote and last != "\\" else quote
        elif _is_quote(text, at, is_code):
            quote = letter
        elif letter in _OPEN:
            held.append(at)
            if is_code and letter == "(":
                yield _Place(at + 1, 2 * depth + 3, 0, tuple(held))
        elif letter in _CLOSED:
            held = held[:-1]
        elif letter == "/" and not is_code:
            yield _Place(at + 1, _LAST, 0, tuple(held))
        elif letter == " " and last not in ("", " "):
            column = held[-1] + 1 if held else 0
            if last == "," or (text[at + 1 : at + 2] == " " and not held):
                yield _Place(at + 1, 2 * depth, column, tuple(held))
            elif not is_code or text.startswith("for ", at + 1):
                yield _Place(at + 1, 2 * depth + (-1 if is_code else min(depth, 1)), column, tuple(held))


def _is_quote(text: str, at: int, is_code: bool) -> bool:
    """Whether a string begins here, which ends in this line: an apostrophe begins none."""
    letter = text[at]
    if letter not in "\"'" or letter not in text[at + 1 :] or letter * 3 in text[max(at - 2, 0) : at + 3]:
        return False
    return is_code or letter == '"' or not text[at - 1 : at].isalnum()


def _remark(line: str) -> int:
    """Where a remark begins, or the line ends."""
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote and line[at - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#":
            return at
    return len(line)
