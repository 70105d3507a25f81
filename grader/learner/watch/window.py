"""The terminal that `kata watch` draws on: what scrolls, a note below it, and two lines that stay."""

from collections.abc import Iterable, Mapping

from rich.console import Console, Group, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.learner.reading import row_at
from grader.learner.watch import footer
from grader.learner.watch.room import LEAST, Room
from grader.learner.watch.scroll import Row, Scroll
from grader.protocol.statuses import SETTLED, State
from grader.records.route import Route


class Window:
    """Keeps what is shown, so that it can be drawn again with a note or in another size.

    Where no keys are heard nothing is cut, since nobody could scroll.
    """

    def __init__(
        self, out: Console, catalog: Catalog, path: Route, welcome: RenderableType, keys: str = footer.KEYS
    ) -> None:
        self.out = out
        self.catalog = catalog
        self.path = path
        self.keys = keys
        self.body = welcome
        self.ready = ""  # what is said once
        self.note: RenderableType | None = None
        self.scroll = Scroll()
        self._made_of: tuple[object, ...] = ()
        self._laid: list[Row] = []

    def draw(self, body: RenderableType, focus: Exercise, states: Mapping[str, State]) -> None:
        """Show `body`, from its beginning where it is another one than before."""
        if body is not self.body:
            self.body, self.scroll.top = body, 0
        is_settled, width = states.get(focus.slug) in SETTLED, self.out.width
        bars = footer.bars(focus, self.path.stretch(self.catalog), states)
        file = paths.shown(focus.file("exercises"))
        below = [
            footer.place(file, self.ready, bars, width, is_settled=is_settled),
            footer.keys(self.keys, width),
        ]
        with self.out:  # all in one go, or the screen flickers
            if self.out.is_terminal:
                self.out.clear()
            self.out.print(Group(*self._above(len(below)), *below), soft_wrap=False)

    def go_to(self, words: str) -> None:
        """Scroll to the first row that begins with these words."""
        self.scroll.top = row_at(["".join(part.text for part in line) for line in self._laid], words)

    def _above(self, taken: int) -> Iterable[RenderableType]:
        note = [] if self.note is None else [self.note]
        if not self.out.is_terminal or self.keys == footer.NO_KEYS:
            return [self.body, *([Text(), *note] if note else []), Text()]
        rows = max(self.out.height - 1 - taken, LEAST)  # the cursor's line stays
        lines = Room(self.out, self.out.options).lines(note)
        if len(lines) > rows // 2:  # so high a note scrolls with the rest
            return [_rows(self._body(note, rows), rows)]
        below: list[Row] = [[], *lines] if lines else []
        above = self._body([], rows - len(below))
        return [_rows([*above, *below], rows)]

    def _body(self, before: list[RenderableType], rows: int) -> list[Row]:
        made_of = (self.body, *before, self.out.width, rows)
        if self._made_of != made_of:  # what is scrolled is laid out once
            room = Room(self.out, self.out.options.update(height=rows))
            self._made_of, self._laid = made_of, room.lines([*before, self.body])
        return self.scroll.shown(self._laid, rows)


def _rows(lines: list[Row], most: int) -> RenderableType:
    """Lines, and an empty one after them where there is room."""
    kept = lines if len(lines) >= most else [*lines, []]
    return Segments([segment for line in kept for segment in (*line, Segment.line())])
