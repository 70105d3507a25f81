"""How many steps Python takes in code that is no library's."""

import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

_LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    str(Path(__file__).parent.parent),
    "frozen",
)


class StepCount:
    """Bytecode steps of all threads while a call runs; `hidden` says why there may be more, or is ""."""

    def __init__(self) -> None:
        self.count = 0
        self.hidden = ""

    def of(self, fn: Callable[[], object]) -> None:
        """Call it, and count."""
        before, beside = sys.gettrace(), threading.gettrace()
        sys._getframe().f_trace_opcodes = True  # Python 3.12 reports them where one has asked before
        _open.append(self)
        threading.settrace(_trace)
        sys.settrace(_trace)
        try:
            fn()
        finally:
            if sys.gettrace() is not _trace:
                self.hidden = "with Python's tracing switched off"
            sys.settrace(before)
            threading.settrace(beside)
            _open.remove(self)


def count_steps(fn: Callable[[], object]) -> int:
    """Bytecode steps that `fn` takes in code that belongs to no library.

    This sees the loops that `count_operations` cannot: over `.tolist()`, NumPy scalars, dictionaries.

    Example:
        def test_no_python_loop(answer):
            few, many = [count_steps(lambda n=n: answer.indices(n)) for n in (5, 50)]
            expect_that(few == many, "indices(n) takes a step for each index", yours=f"{few}, {many}")
    """
    steps = StepCount()
    steps.of(fn)
    return steps.count


def follow_threads() -> None:
    """Have the steps of threads that are started from now on be counted whenever somebody counts."""
    if threading.gettrace() is None:
        threading.settrace(_trace)


_open: list[StepCount] = []


def _trace(frame: FrameType, event: str, _argument: Any) -> Any:
    if not _open or (event == "call" and _is_library(frame)):
        return None
    if event == "call":
        frame.f_trace = _trace  # Python 3.13 turns opcodes on only in a frame that is traced already
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
    if event == "opcode":
        for steps in _open:
            steps.count += 1
    return _trace


def _is_library(frame: FrameType) -> bool:
    """Whether code runs among a library's own names; a name of a file is whatever `compile` is told."""
    names = frame.f_globals
    module = sys.modules.get(names.get("__name__", ""))
    if module is None or vars(module) is not names or not frame.f_code.co_filename.startswith(_FILES):
        return False
    origin = getattr(names.get("__spec__"), "origin", None) or names.get("__file__") or ""
    return str(origin).startswith(_LIBRARIES)


_FILES = (*_LIBRARIES, "<")
