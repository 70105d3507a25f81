"""How long reading one student's hand-in may take, whatever is in it."""

from collections.abc import Iterator
from contextlib import contextmanager

from grader.classroom.submissions.io.folders import Refused
from grader.core.timeout import TooSlow, within

SECONDS = 60.0


@contextmanager
def in_time() -> Iterator[None]:
    """Raises Refused in what takes longer."""
    try:
        with within(SECONDS):
            yield
    except TooSlow:
        raise Refused(f"takes more than {SECONDS:g} s to read; hand in your answers alone") from None
