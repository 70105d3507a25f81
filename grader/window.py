"""The terminal that `kata watch` draws on: a verdict, a note below it, and what is always there."""

from collections.abc import Mapping

from rich.console import Console, Group, RenderableType
from rich.segment import Segments
from rich.text import Text

from grader import paths, screen
from grader.catalog import Catalog, Exercise
from grader.progress import State

CHROME = 6
"""Lines below the verdict: the bars, the file, the keys, and some air."""


class Window:
    """Keeps what is shown, so that it can be drawn again with a note or in another size."""

    def __init__(self, out: Console, catalog: Catalog, welcome: str) -> None:
        self.out = out
        self.catalog = catalog
        self.body: RenderableType = Text(welcome)
        self.note: RenderableType | None = None

    def room(self) -> int:
        """How many lines a verdict may take."""
        return max(self.out.height - CHROME, screen.LEAST) if self.out.is_terminal else 1000

    def draw(self, body: RenderableType, focus: Exercise, states: Mapping[str, State]) -> None:
        """Show `body`, cut to what the window holds."""
        self.body = body
        note = [] if self.note is None else [Text(), self.note]
        room = self.room() - len(self.out.render_lines(Group(*note), pad=False))
        file = paths.shown(focus.file("exercises"))
        below = [
            *note,
            Text(),
            screen.bars(self.catalog.section(focus), self.catalog, states),
            Text(f"{file}\n{screen.KEYS}", "dim"),
        ]
        with self.out:  # all in one go, or the screen flickers
            if self.out.is_terminal:
                self.out.clear()
            self.out.print(Group(self._cut(body, max(room, screen.LEAST)), *below), soft_wrap=False)

    def _cut(self, body: RenderableType, rows: int) -> RenderableType:
        lines = self.out.render_lines(body, pad=False, new_lines=True)
        if len(lines) <= rows:
            return body
        kept = [segment for line in lines[: rows - 1] for segment in line]
        return Group(Segments(kept), Text(f"… {len(lines) - rows + 1} lines more", "dim"))
