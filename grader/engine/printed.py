"""What an answer prints while it is judged: the beginning of it is kept."""

import contextlib
import io
from typing import Any

from grader.core.sanitize import MOST_CHARACTERS

MOST_PRINTED = 4 * MOST_CHARACTERS
"""Bytes: enough for so many characters."""


class _Beginning(io.RawIOBase):
    """Keeps the first bytes that are written to it and forgets the rest, however much it is."""

    name = "<printed>"

    def __init__(self) -> None:
        self.kept = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = memoryview(data).cast("B")
        self.kept += piece[: MOST_PRINTED - len(self.kept)]
        return len(piece)

    def fileno(self) -> int:
        return 1  # for those who write past Python: what leads nowhere in the engine


class Printed(io.TextIOWrapper):
    """Takes what is printed, as a terminal does: in bytes too, and with whatever settings are asked for."""

    def __init__(self) -> None:
        self._beginning = _Beginning()
        super().__init__(self._beginning, "utf-8", "backslashreplace", newline="", write_through=True)

    def take(self) -> str:
        """The beginning of what was printed since it was last taken."""
        with contextlib.suppress(ValueError):  # closed, or detached
            self.flush()
        text = self._beginning.kept.decode(errors="replace")[:MOST_CHARACTERS]
        self._beginning.kept.clear()
        return text
