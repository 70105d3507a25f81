"""Whether a test has looked at a clock: what fails then may have failed by how busy the machine was."""

import functools
import importlib
import sys
import time
from collections.abc import Callable
from types import TracebackType

_READ = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_FOR_SHOW = frozenset({"hypothesis", "logging", "torch", "tqdm"})
"""Packages that look at one now and then whatever they do, and let nothing fail by it, or say so."""
_BENCHMARK = "torch.utils.benchmark"
_NOW = frozenset({"now", "utcnow"})
"""By which `datetime` looks at one, where nobody can see it."""

_looks = 0


def watch() -> None:
    """See from now on who looks at a clock by Python's module `time`."""
    for name in _READ:
        for each in (name, f"{name}_ns"):
            setattr(time, each, _seen(getattr(time, each)))
    if "timeit" in sys.modules:  # which has taken its own from there
        importlib.reload(sys.modules["timeit"])


def _seen(read: Callable[[], object]) -> Callable[[], object]:
    @functools.wraps(read)
    def seen() -> object:
        name = str(sys._getframe(1).f_globals.get("__name__"))
        if name.partition(".")[0] not in _FOR_SHOW or name.startswith(_BENCHMARK):
            global _looks
            _looks += 1
        return read()

    return seen


def looks() -> int:
    """How often somebody has looked at one so far."""
    return _looks


def tells_of_one(error: BaseException) -> bool:
    """Whether an error speaks of time by itself: hypothesis's limits, say, or a line that compares dates."""
    if type(error).__module__.startswith("hypothesis."):
        return True
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if not _NOW.isdisjoint(trace.tb_frame.f_code.co_names):
            return True
        trace = trace.tb_next
    return False
