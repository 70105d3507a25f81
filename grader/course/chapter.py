"""A section's chapter, its README: the calls that its tables list, the messages that they explain."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course import sources

_CALL = re.compile(r"^\| `(?P<call>[^|]+)` \| (?P<gives>[^|]+) \| (?P<where>[^|]+) \|$", re.MULTILINE)
_MESSAGE = re.compile(r"^\| \"(?P<text>[^|]+)\" \| (?P<means>[^|]+) \| (?P<where>[^|]+) \|$", re.MULTILINE)
_WARNING = re.compile(r"^- (?:\*\*(?P<name>[^*]+)\*\* )?(?P<text>.+(?:\n  .+)*)$", re.MULTILINE)
_SNIPPET = re.compile(r"^\*\*(?P<name>[^*]+?)\*\*(?P<text>.*(?:\n(?!```|\n).+)*)\n\n```pycon", re.MULTILINE)
_PRINTED = re.compile(r"^[\w.]*(?:Error|Exception): (?P<text>.+?)[ .]*$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """A row of a table: a call, what comes back of it, and the slugs of steps and exercises; or a message."""

    name: str
    tells: str
    slugs: tuple[str, ...]


def text_of(section: str) -> str:
    """The chapter as it is written; empty where there is none."""
    files = filter(Path.is_file, sources.each("exercises", section, "README.md"))
    return next((file.read_text("utf-8") for file in files), "")


def calls(text: str) -> Iterator[Row]:
    """The rows of *call | what comes back | where*."""
    for row in _CALL.finditer(text):
        yield Row(row["call"], row["gives"], slugs(row["where"]))


def messages(text: str) -> Iterator[Row]:
    """The rows of *message | what it means | where*."""
    for row in _MESSAGE.finditer(text):
        yield Row(row["text"], row["means"], slugs(row["where"]))


def pitfalls(text: str) -> Iterator[Row]:
    """The points that a chapter warns of, and what its snippets show; without its list of what to read."""
    told, _, _ = text.partition("\n## What to read")
    for pattern in (_WARNING, _SNIPPET):
        for found in pattern.finditer(told):
            body = " ".join(found["text"].split())
            name, tells = (found["name"], body) if found["name"] else (body.rstrip(";."), "")
            yield Row(" ".join(name.split()).rstrip("."), tells.lstrip(", "), slugs(body))


def printed(text: str) -> Iterator[str]:
    """The messages of errors that a text shows as Python prints them, without the name of the error."""
    for line in _PRINTED.finditer(text):
        yield line["text"]


def slugs(where: str) -> tuple[str, ...]:
    """The names in backticks: steps and exercises, where they are some."""
    return tuple(re.findall(r"`(\w+)`", where))
