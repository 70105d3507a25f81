"""From what learners read in their editor to Markdown."""

import ast
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

_INDENT = "    "
_CODE = re.compile(r"(`+[^`]*`+)")
_SPECIAL = re.compile(r"([\\*_<>\[\]{}$#|~])")


def prose(text: str) -> str:
    """A docstring, or a part of one: what is indented is code, and nothing in the rest means anything."""
    blocks = re.split(r"\n(?:[ \t]*\n)+", text.strip("\n"))
    lines = "\n\n".join(blocks).split("\n")
    parts = []
    for is_code, run in groupby(_marked(lines), lambda pair: pair[0]):
        block = "\n".join(line for _, line in run).strip("\n")
        parts.append(fenced(textwrap.dedent(block)) if is_code else escaped(block))
    return "\n\n".join(part for part in parts if part)


def _marked(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is code; an empty one belongs to what stands before it."""
    is_code = False
    for line in lines:
        is_code = line.startswith(_INDENT) if line else is_code
        yield is_code, line


def fenced(code: str) -> str:
    """A block of code: of Python where it is that, else of a table or a formula."""
    try:
        ast.parse(code)
    except SyntaxError:
        return f"```\n{code}\n```"
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
