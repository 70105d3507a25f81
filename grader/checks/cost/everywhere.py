"""Every operation of this process, in whatever thread and under whatever mode.

A mode or a hook sees the thread that it was put into, and torch can switch modes off. Its profiler sees all.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from torch import distributed as dist

from grader.checks import _compat
from grader.checks.failure import CheckFailure

_BACKWARD = "autograd::engine::evaluate_function"
"""So begins what the engine of autograd calls a step of a backward."""

_DELIVERY = {"as_strided", "cat", "copy_", "div_", "empty", "narrow", "reshape", "select", "slice", "view"}
"""With these a process group's own threads average what other ranks have sent, and put it into its place."""


class Everywhere:
    """What ran in a block, as is known when it has ended.

    Attributes:
        names: the operations, those of which others consist too, by name without namespace and underscores;
            "backward" where there was one.
        calls: how many were called by no other.
        elsewhere: whether another thread ran some.
        profiled: whether a profiler that the block started itself has ended the looking.
        forked: whether the block started a process, where nobody looks.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.calls = 0
        self.elsewhere = self.profiled = self.forked = False

    def _add(self, events: list[_compat.Event], here: int | None) -> None:
        self.profiled = self.profiled or here is None
        ends: dict[int, int] = {}
        for name, thread, begin, end in events:
            is_backward = name.startswith(_BACKWARD)
            self.names.add("backward" if is_backward else name.rpartition("::")[2].strip("_"))
            if begin >= ends.get(thread, 0):
                ends[thread] = end
                self.calls += 1
                # A backward on another device has a thread of torch's own, with the modes of whoever asked.
                is_own = (
                    thread == here
                    or is_backward
                    or (name.removeprefix("aten::") in _DELIVERY and _has_process_group())
                )
                self.elsewhere = self.elsewhere or not is_own

    @property
    def hidden(self) -> str:
        """Where more may have run that nobody saw; "" where it cannot."""
        return "under a profiler" if self.profiled else "in another process" if self.forked else ""


@contextmanager
def everywhere() -> Iterator[Everywhere]:
    """Look at all that runs in the block, until the last of such blocks has ended."""
    found = Everywhere()
    _tell()
    _open.append(found)
    _compat.start_profiler()
    try:
        yield found
    finally:
        _tell()
        _open.remove(found)
        if _open:
            _compat.start_profiler()


@contextmanager
def in_one_thread() -> Iterator[None]:
    """Fail where the block computes in another thread, which what counts there does not see."""
    with everywhere() as found:
        yield
    if found.elsewhere or found.profiled:
        where = "in another thread" if found.elsewhere else found.hidden
        raise CheckFailure(
            f"it computes {where}, where nobody sees what it costs", wanted="its own thread alone"
        )


def _has_process_group() -> bool:
    return dist.is_available() and dist.is_initialized()


_open: list[Everywhere] = []


def _tell() -> None:
    """Tell everybody who looks what ran since the profiler was started."""
    if _open:
        events, here = _compat.stop_profiler()
        for each in _open:
            each._add(events, here)


def _forks() -> None:
    for each in _open:
        each.forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_forks)
