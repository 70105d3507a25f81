"""What is asked, on the screen: the statement and the start of an exercise, as far as there is room."""

import re
from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from grader.course.statement import FINE, Statement
from grader.learner.watch.room import LEAST, Room

_INDENT = "    "
_GAP = Text()


def laid(asked: Statement, room: Room, rows: int, how: str) -> list[RenderableType]:
    """The job, the fine print and the code, in so many rows.

    Where they do not fit, the fine print becomes a line, then empty lines go, then job and code are cut,
    each with how many lines are left out; `how` tells how to see them.
    """
    job, code = _prose(asked.job), [_GAP, python(asked.code)] if asked.code else []
    count = len(re.findall(r"^- ", asked.fine or "", re.MULTILINE))
    fine = [_GAP, Text(FINE), *_prose(asked.fine)] if asked.fine else []
    folded = [_GAP, Text(f"{FINE} {count} more{how}", "dim")] if asked.fine else []
    for parts in ([*job, *fine, *code], [*job, *folded, *code]):
        if room.taken(parts) <= rows:
            return parts
    dense = [part for part in (*job, *folded) if part is not _GAP]
    code = [_GAP, python(re.sub(r"\n\s*\n", "\n", asked.code))] if asked.code else []
    if room.taken([*dense, *code]) <= rows:
        return [*dense, *code]
    least = min(room.taken(code), max(rows // 4, LEAST + 1))
    kept = [room.cut(dense, rows - least, "" if code else how)]
    left = rows - room.taken(kept)
    return [*kept, room.cut(code, left, how)] if code and left >= LEAST else kept


def _prose(text: str) -> list[RenderableType]:
    """The paragraphs of a docstring, flowing; its lists, and what is indented as code."""
    blocks = [block for block in re.split(r"\n(?:[ \t]*\n)+", text) if block.strip()]
    told: list[RenderableType] = []
    for block in blocks:
        told += [_GAP] if told else []
        for is_code, lines in groupby(block.split("\n"), lambda line: line.startswith(_INDENT)):
            text = "\n".join(lines)
            told += [python(text)] if is_code else _flowing(text)
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


def python(code: str) -> RenderableType:
    """Code as Python, wrapped where a line is too long."""
    # In the terminal's own colours, which are readable on its own background.
    return Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)
