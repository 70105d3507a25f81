"""The terminal that keys come from: by termios, or by msvcrt on Windows."""

import contextlib
import importlib
import os
import select
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from time import monotonic, sleep
from typing import Any, Protocol

_PAUSE = 0.02
"""Seconds between two looks for a key, where nobody can be asked to wait for one."""


_ARROWS = {"H": "\x1b[A", "P": "\x1b[B", "M": "\x1b[C", "K": "\x1b[D"}
_ARROWS |= {"I": "\x1b[5~", "Q": "\x1b[6~", "G": "\x1b[H", "O": "\x1b[F"}
"""What msvcrt calls them, and what other terminals send."""


class Terminal(Protocol):
    """Where single keys can be read."""

    def single_keys(self) -> AbstractContextManager[None]:
        """Keys come one by one during the block, without Enter and without an echo."""

    def ordinary(self) -> AbstractContextManager[None]:
        """Lines and echo are as usual during the block."""

    def read(self, seconds: float) -> str | None:
        """What is typed within so many seconds: None for nothing, "" where the terminal is gone."""


def here() -> Terminal | None:
    """The terminal of this process; None where there is none, or none that gives single keys."""
    if not sys.stdin.isatty():
        return None
    if termios := _module("termios"):
        return _Termios(termios)
    msvcrt = _module("msvcrt")
    return _Msvcrt(msvcrt) if msvcrt else None


def _module(name: str) -> Any:
    """A module of this platform; None on others."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class _Termios:
    def __init__(self, termios: Any) -> None:
        self._termios = termios

    @contextlib.contextmanager
    def single_keys(self) -> Iterator[None]:
        import tty

        with self._kept():
            tty.setcbreak(sys.stdin)
            # What was typed before anybody listened.
            self._termios.tcflush(sys.stdin, self._termios.TCIFLUSH)
            yield

    @contextlib.contextmanager
    def ordinary(self) -> Iterator[None]:
        termios = self._termios
        with self._kept() as attributes:
            attributes[3] |= termios.ICANON | termios.ECHO
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, attributes)
            yield

    @contextlib.contextmanager
    def _kept(self) -> Iterator[list[Any]]:
        before = self._termios.tcgetattr(sys.stdin)
        try:
            yield [*before]
        finally:
            self._termios.tcsetattr(sys.stdin, self._termios.TCSADRAIN, before)

    def read(self, seconds: float) -> str | None:
        is_there = select.select([sys.stdin], [], [], seconds)[0]
        return os.read(sys.stdin.fileno(), 64).decode(errors="replace") if is_there else None


class _Msvcrt:
    """Windows gives single keys without an echo to whoever asks for them; nothing is to be switched."""

    def __init__(self, msvcrt: Any) -> None:
        self._msvcrt = msvcrt
        self.single_keys = self.ordinary = contextlib.nullcontext

    def read(self, seconds: float) -> str | None:
        end = monotonic() + seconds
        while not self._msvcrt.kbhit():
            if monotonic() >= end:
                return None
            sleep(_PAUSE)
        key: str = self._msvcrt.getwch()
        if key in "\x00\xe0" and self._msvcrt.kbhit():  # an arrow, say, which is two
            return _ARROWS.get(self._msvcrt.getwch())
        return "q" if key == "\x03" else key  # Ctrl-C
