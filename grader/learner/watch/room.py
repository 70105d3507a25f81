"""The rows that a screen has, and what is laid out only when it is drawn, for as many as there are then."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

LEAST = 3
"""Rows of a verdict that are shown however low the window is."""


@dataclass(frozen=True)
class Room:
    """How much can be shown; without a height, anything."""

    console: Console
    options: ConsoleOptions

    @property
    def rows(self) -> int:
        return self.options.height or 1000

    def taken(self, parts: Sequence[RenderableType]) -> int:
        """How many rows these take, as they wrap."""
        return len(self.lines(parts))

    def lines(self, parts: Sequence[RenderableType]) -> list[list[Segment]]:
        """The rows of these, as they wrap."""
        # Not `Console.render_lines`, which fills up what is lower than the window.
        segments = (s for part in parts for s in self.console.render(part, self._options_for(part)))
        width = self.options.max_width
        return list(Segment.split_and_crop_lines(segments, width, include_new_lines=False, pad=False))

    def _options_for(self, part: RenderableType) -> ConsoleOptions:
        return self.options if isinstance(part, Fitted) else self.options.reset_height()


@dataclass(frozen=True)
class Fitted:
    """What is laid out when it is drawn."""

    lay: Callable[[Room], Sequence[RenderableType]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield from self.lay(Room(console, options))
