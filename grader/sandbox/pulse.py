"""How a child says that it goes on: one that has not for a while is ended, whatever time it has left."""

import contextlib
import os
import time


class Pulse:
    """A pipe from a child to whoever waits for it; the child keeps `writer`.

    A beat is due within `first` seconds, and after each within `each`.
    """

    def __init__(self, first: float, each: float) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._each = each
        self._due = time.monotonic() + first

    def beat(self) -> None:
        """In the child: it goes on."""
        with contextlib.suppress(OSError):
            os.write(self.writer, b".")

    def due(self) -> float:
        """Until when a beat must come, by `time.monotonic`; no later where the child has closed its end."""
        with contextlib.suppress(BlockingIOError):
            if os.read(self._reader, 65536):
                self._due = time.monotonic() + self._each
        return self._due

    def close(self) -> None:
        """In the parent, when the child has ended."""
        os.close(self._reader)
        os.close(self.writer)
