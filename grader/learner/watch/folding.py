"""Code and lines with numbers on the screen, folded when they are drawn, for the width that there is then."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.syntax import Syntax
from rich.text import Text

from grader.learner.watch import folded

_FACT = 10
"""The column at which a fact of feedback begins, behind its name."""


@dataclass(frozen=True)
class Python:
    """Code as Python."""

    code: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        code = folded.code(self.code, options.max_width)
        # In the terminal's own colours, which are readable on its own background.
        yield Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)


@dataclass(frozen=True)
class Lines:
    """What is told of a check, line by line; a fact goes on below where it begins."""

    lines: tuple[str, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for line in self.lines:
            is_fact = line[:2] == "  " and line[2:_FACT].strip() and line[_FACT - 1 : _FACT] == " "
            for piece in folded.words(line, options.max_width, _FACT if is_fact else None):
                yield Text(piece)


def diff(text: str) -> Syntax:
    """Two versions of code, line by line."""
    return Syntax(text, "diff", theme="ansi_dark", background_color="default", word_wrap=True)
