"""Stop what takes too long, from within the same process."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooSlow(BaseException):
    """The answer's time ran out. Not an Exception, so that `except Exception` does not catch it."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"still running after {seconds:g} s")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooSlow, at the line where it is, in what takes longer.

    Not while it is being traced, and in the main thread alone: no other hears the alarm.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if sys.gettrace() is not None or not hasattr(signal, "SIGALRM") or not is_main:
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow(seconds)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def at_most_the_alarm(seconds: float) -> float:
    """Be done before the alarm of the check, which cannot tell what other processes were doing."""
    left = signal.getitimer(signal.ITIMER_REAL)[0] if hasattr(signal, "getitimer") else 0.0
    return min(seconds, max(left - 1.0, left / 2)) if left else seconds
