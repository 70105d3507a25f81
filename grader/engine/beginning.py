"""Whether a child came as far as the answer: what goes wrong before that is ours, and no answer's doing.

The child says so on a pipe that it closes before the answer is imported, so that no answer can say it.
"""

import os

from grader.core.errors import KataError

_BEGUN = b"begun"


class Beginning:
    """A pipe from a child to its worker; the child keeps `writer` until the answer is imported."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()

    def begun(self) -> None:
        """In the child: the answer comes next."""
        os.write(self.writer, _BEGUN)
        os.close(self.writer)

    def failed(self, error: BaseException) -> None:
        """In the child: it does not come so far."""
        told = str(error) if isinstance(error, KataError) else f"{type(error).__name__}: {error}"
        os.write(self.writer, told[:200].encode())

    def trouble(self) -> str:
        """In the worker, when the child has ended: why the answer was not imported; "" where it was."""
        os.close(self.writer)
        os.set_blocking(self._reader, False)  # ranks may still hold the other end
        try:
            said = os.read(self._reader, 1000)
        except BlockingIOError:
            said = b""
        finally:
            os.close(self._reader)
        if said.startswith(_BEGUN):
            return ""
        return said.decode(errors="replace") or "its process ended before the answer came in"
