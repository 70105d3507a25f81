"""A chapter on the screen: nothing of its tables is cut off, and its code breaks no string or matrix."""

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, TableElement
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from grader.learner.watch import folded

_ANY = 1000
"""A width that every row fits."""


class _Table(TableElement):
    """A table where each row fits one line; else each row's first cell by itself, the others below it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        (table,) = super().__rich_console__(console, options)
        assert isinstance(table, Table) and self.body
        if console.measure(table, options=options.update(max_width=_ANY)).maximum <= options.max_width:
            yield table
            return
        for row in self.body.rows:
            first, *others = (cell.content for cell in row.cells)
            call = folded.code(first.plain, options.max_width - 1)
            yield Padding(Text(call, "bold cyan"), (0, 0, 0, 1))
            yield Padding(Text("   ").join(others), (0, 0, 0, 5))


class _Code(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = folded.code(str(self.text).rstrip(), options.max_width - 2)
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=1)


class ChapterPage(Markdown):
    """The chapter's text, laid out for the width that there is when it is drawn."""

    elements = {**Markdown.elements, "table_open": _Table, "fence": _Code, "code_block": _Code}  # noqa: RUF012
