"""A place in what is higher than the window: which rows of it are shown, and the keys that move it."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style

Row = list[Segment]

_DIM = Style(dim=True)
_KEPT = 2
"""Rows that stay when a page is turned, beside the marks."""


class Scroll:
    """The first row that is shown; each drawing tells how many there are."""

    def __init__(self) -> None:
        self.top = 0
        self._rows = self._height = 0

    def press(self, key: str) -> bool:
        """Whether this is a key that moves, and there is somewhere to move to."""
        page = max(self._rows - 2 - _KEPT, 1)
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -page, "pagedown": page}
        steps |= {"home": -self._height, "end": self._height}
        if key not in steps or self._height <= self._rows:
            return False
        self.top = self._within(self.top + steps[key])
        return True

    def shown(self, lines: Sequence[Row], rows: int) -> list[Row]:
        """So many of the lines, with marks where there are more above or below."""
        self._rows, self._height = rows, len(lines)
        self.top = self._within(self.top)
        kept = list(lines[self.top : self.top + rows])
        below = len(lines) - self.top - rows
        if self.top:
            kept[0] = _mark(f"… {self.top + 1} lines above: ↑ k PgUp")
        if below > 0:
            kept[-1] = _mark(f"… {below + 1} lines more: ↓ j PgDn")
        return kept

    def _within(self, top: int) -> int:
        return max(min(top, self._height - self._rows), 0)


def _mark(words: str) -> Row:
    return [Segment(words, _DIM)]
