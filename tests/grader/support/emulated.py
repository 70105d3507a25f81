"""A terminal in memory: what stands on the screen after all that was written."""

import io

import pyte
from rich.console import Console

SIZES = ((80, 24), (120, 35), (50, 14))


class Emulated:
    """A console whose screen can be read, row by row."""

    def __init__(self, width, height):
        self.screen = pyte.Screen(width, height)
        self.screen.set_mode(pyte.modes.LNM)  # as a tty does: the end of a line is the start of the next
        self._stream = pyte.Stream(self.screen)
        self._file = io.StringIO()
        self.console = Console(
            file=self._file, force_terminal=True, width=width, height=height, color_system="standard"
        )

    @property
    def rows(self):
        """The rows as they are now, without blanks at their ends."""
        self._stream.feed(self._file.getvalue())
        self._file.seek(0)
        self._file.truncate()
        return [row.rstrip() for row in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.rows)
