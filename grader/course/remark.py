"""What a remark in a worked example says in numbers: what came of a call, or what something is."""

import ast
import re
from collections.abc import Iterator

from grader.course.arrays import Array
from grader.course.written_out import Sizes, Value, value_of

_OPENING = re.compile(
    r"\W*?(?:(?:now|e\.g\.|for instance|such as|say|about|should be|is)\b[\s:]*)*(?=[-\[({\w])"
)
_END = re.compile(r"(?<=[\w.\])}])(?=[\s,:;)]|$)")
_OPERATOR = re.compile(r"\s*[·*+/²×√^-]")
_AFTER_A_NUMBER = re.compile(r"[ \t]*(?:$|[\n:;,(=]|on (?:both|all)\b)")
_SHAPE = re.compile(r"\bof shape (\([\d, ]+\))")
_LIST = re.compile(r"(?:(?:torch\.)?tensor\(|array\()?\[")
_LINK = re.compile(
    r"(?:\s*(?:\b(?:is|are|has|now|and|the)\b|=|:))+\s*$|^\s*(?:(?:and|with|the|where|say|that|its)\s+)+"
)
_NAME = re.compile(r"[\w.:' *]*")
_WHERE = re.compile(r" on (?:rank \d|both|all \w+)")
_MOST_LINES = 2
_MOST_WORDS = 5
"""Of what names an array: more are a sentence."""


def beginning(remark: str) -> Value:
    """The value that one of its lines begins with, or that a formula comes to; None where there is none."""
    lines = remark.split("\n")
    for at in range(min(len(lines), _MOST_LINES)):
        value = _first("\n".join(lines[at:]))
        if value is not None:
            return value
    shape = _SHAPE.search(remark)
    return Sizes(_read(shape[1])) if shape else None


def _first(text: str) -> Value:
    opening = _OPENING.match(text)
    text = text[opening.end() :] if opening else text
    for end in reversed([found.start() for found in _END.finditer(text)]):
        value = _read(text[:end])
        if value is not None:
            is_number = isinstance(value, (int, float))
            if not _OPERATOR.match(text, end) and (not is_number or _AFTER_A_NUMBER.match(text, end)):
                return value
    _, equals, last = text.partition("\n")[0].rpartition(" = ")
    return _first(last) if equals else None


def labelled(remark: str) -> list[tuple[str, Array]]:
    """The lists of a remark, by the words before each: none where one of them stands in a sentence."""
    found: list[tuple[str, Array]] = []
    at = 0
    while start := _LIST.search(remark, at):
        end = _closed(remark, start.end() - 1) + (start[0] != "[")
        where = _WHERE.match(remark, end)
        words = re.split(r"[,;.]\s|\n|(?<![a-z\s])\s{2,}", remark[at : start.start()])[-1]
        name = " ".join(f"{_LINK.sub('', words).strip(' ,')}{where[0] if where else ''}".split())
        value = _read(remark[start.start() : end])
        is_named = len(name.split()) <= _MOST_WORDS and _NAME.fullmatch(name)
        if value is None or not is_named or _OPERATOR.match(remark, end):
            return []
        found += named(value, name)
        at = where.end() if where else end
    return found


def named(value: Value, name: str = "") -> Iterator[tuple[str, Array]]:
    """The arrays and numbers that came of a call; those of a dict have its keys for names."""
    if isinstance(value, Array):
        yield name, value
    elif isinstance(value, dict):
        for key, held in value.items():
            yield from named(held, str(key))
    elif isinstance(value, Sizes):
        yield name, Array(value)
    elif isinstance(value, tuple):
        for held in value:
            yield from named(held, name)
    elif isinstance(value, (bool, int, float)):
        yield name, Array.of(value)
    elif isinstance(value, list):
        try:
            yield name, Array.of(value)
        except ValueError:
            for held in value:
                yield from named(held, name)


def sized(value: Value, name: str = "") -> Iterator[tuple[str, Array]]:
    """The arrays of which a value tells the shapes alone; none where it tells anything else."""
    if isinstance(value, dict):
        for key, held in value.items():
            yield from sized(held, str(key))
    elif isinstance(value, tuple) and value and all(type(size) is int for size in value):
        yield name, Array(value)
    elif isinstance(value, (list, tuple)):
        for held in value:
            yield from sized(held, name)


def _read(text: str) -> Value:
    try:
        return value_of(ast.parse(text.strip(), mode="eval").body, {})
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _closed(text: str, at: int) -> int:
    """Behind the bracket that closes the one here."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] in "[(") - (text[place] in ")]")
        if not depth:
            return place + 1
    return len(text)
