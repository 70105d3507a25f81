"""The terminal that `kata watch` draws on: a verdict, a note below it, and what is always there."""

from collections.abc import Mapping

from rich.console import Console, Group, RenderableType
from rich.text import Text

from grader.course import paths
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.learner.watch import screen
from grader.learner.watch.room import LEAST, Room
from grader.records.route import Route
from grader.records.rungs import SETTLED, State


class Window:
    """Keeps what is shown, so that it can be drawn again with a note or in another size."""

    def __init__(
        self, out: Console, catalog: Catalog, path: Route, welcome: RenderableType, keys: str = screen.KEYS
    ) -> None:
        self.out = out
        self.catalog = catalog
        self.path = path
        self.keys = keys
        self.body = welcome
        self.ready = ""  # what is said once
        self.note: RenderableType | None = None

    def draw(self, body: RenderableType, focus: Exercise, states: Mapping[str, State]) -> None:
        """Show `body`, laid out for and cut to what the window holds."""
        self.body = body
        file, is_settled = paths.shown(focus.file("exercises")), states.get(focus.slug) in SETTLED
        below: list[RenderableType] = [
            *([] if self.note is None else [Text(), self.note]),
            Text(f"\n{self.ready}{file}" if is_settled else f"\n{self.ready}open {file}, write, save"),
            screen.bars(focus, self.path.stretch(self.catalog), states),
            Text(self.keys, "dim"),
        ]
        with self.out:  # all in one go, or the screen flickers
            if self.out.is_terminal:
                self.out.clear()
                body = self._cut(body, below)
            self.out.print(Group(body, *below), soft_wrap=False)

    def _cut(self, body: RenderableType, below: list[RenderableType]) -> RenderableType:
        options = self.out.options
        rows = self.out.height - 1 - Room(self.out, options).taken(below)  # the cursor's line stays
        room = Room(self.out, options.update(height=max(rows, LEAST)))
        return room.cut([body], room.rows)
