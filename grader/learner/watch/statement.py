"""What is asked, on the screen: the statement and the start of an exercise."""

import re
from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader.course.statement import FINE, Statement
from grader.learner.watch.folding import Python
from grader.learner.watch.room import Room

_INDENT = "    "
_GAP = Text()


def laid(asked: Statement, room: Room, rows: int) -> list[RenderableType]:
    """The job, the fine print and the code; where they take more than so many rows, without empty lines."""
    fine: list[RenderableType] = [_GAP, Text(FINE), *_prose(asked.fine)] if asked.fine else []
    code: list[RenderableType] = [_GAP, Python(asked.code)] if asked.code else []
    parts = [*_prose(asked.job), *fine, *code]
    if room.taken(parts) <= rows:
        return parts
    dense = [part for part in parts if part is not _GAP]
    if asked.code:
        dense[-1] = Python(re.sub(r"\n\s*\n", "\n", asked.code))
        dense.insert(-1, _GAP)
    return dense if room.taken(dense) <= rows else parts


def _prose(text: str) -> list[RenderableType]:
    """The paragraphs of a docstring, flowing; its lists, and what is indented as code."""
    blocks = [block for block in re.split(r"\n(?:[ \t]*\n)+", text) if block.strip()]
    told: list[RenderableType] = []
    for block in blocks:
        told += [_GAP] if told else []
        for is_code, lines in groupby(block.split("\n"), lambda line: line.startswith(_INDENT)):
            text = "\n".join(lines)
            told += [Python(text)] if is_code else _flowing(text)
    return told


def _flowing(text: str) -> Iterator[RenderableType]:
    """A paragraph, or the items of a list with what stands before them."""
    for piece in re.split(r"\n(?=- )", text):
        words = " ".join(piece.split())
        if not words.startswith("- "):
            yield _marked(words)
            continue
        item = Table.grid(padding=(0, 1, 0, 0))
        item.add_row("-", _marked(words.removeprefix("- ")))
        yield item


def _marked(words: str) -> Text:
    told = Text(words)
    told.highlight_regex(r"`[^`]+`", "cyan")
    told.highlight_regex(r"^New here:", "bold")
    return told
