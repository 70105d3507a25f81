"""From what learners read in their editor to Markdown."""

import re
from collections.abc import Callable, Iterator
from itertools import groupby

_INDENT = "    "
_CODE = re.compile(r"(`+[^`]*`+)")
_SPECIAL = re.compile(r"([\\*_<>\[\]{}$#|~])")


def prose(text: str) -> str:
    """A part of a docstring: what is indented is code, and nothing in the rest means anything to Markdown."""
    parts = []
    for is_code, lines in groupby(text.split("\n"), lambda line: line.startswith(_INDENT)):
        block = "\n".join(lines)
        parts.append(fenced(_dedented(block)) if is_code else escaped(block))
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def _dedented(block: str) -> str:
    return "\n".join(line.removeprefix(_INDENT) for line in block.split("\n"))


def fenced(code: str) -> str:
    """A block of Python."""
    return f"```python\n{code}\n```"


def escaped(text: str) -> str:
    """Text in which only backticks mean something."""
    return "".join(
        part if place % 2 else _SPECIAL.sub(r"\\\1", part) for place, part in enumerate(_CODE.split(text))
    )


def linked(text: str, link: Callable[[str], str | None]) -> str:
    """Markdown in which each name in backticks that has a page leads there; blocks of code stay."""
    return "".join(part if is_code else _linked(part, link) for is_code, part in _blocks(text))


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    for place, part in enumerate(re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)):
        yield bool(place % 2), part


def _linked(text: str, link: Callable[[str], str | None]) -> str:
    def replaced(found: re.Match[str]) -> str:
        page = link(found[1])
        return f"[{found[0]}]({page})" if page else found[0]

    return re.sub(r"(?<!\[)`(\w+)`(?!\])", replaced, text)
