"""Single keys from a terminal, and the terminal lent to an editor."""

import contextlib
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.errors import KataError

LOOK_EVERY = 0.2
"""Seconds between two looks at whether the terminal is lent to somebody else."""

_NO_LETTERS = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
"""Arrows, function keys and the like, which arrive as several characters."""

EDITORS = ("nano", "vim", "vi")
"""What is tried where no editor is set: the one that says how to leave it comes first."""


class Keyboard:
    """Hands on each key that is pressed, without waiting for Enter, from a thread of its own."""

    def __init__(self, press: Callable[[str], None]) -> None:
        self._press = press
        self._mine = threading.Lock()  # held by whoever may read from the terminal

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Hand on keys during the block. Does nothing where the input is no terminal."""
        if not sys.stdin.isatty() or not _has_terminals():
            yield
            return
        stop = threading.Event()
        thread = threading.Thread(target=self._listen, args=(stop,), daemon=True)
        with _attributes_kept():
            _single_keys()
            thread.start()
            try:
                yield
            finally:
                stop.set()
                thread.join()  # or it would take the first keys that the shell should get

    def _listen(self, stop: threading.Event) -> None:
        while not stop.is_set():
            with self._mine:
                is_there = select.select([sys.stdin], [], [], LOOK_EVERY)[0]
                pressed = os.read(sys.stdin.fileno(), 64).decode(errors="replace") if is_there else None
            if pressed == "":  # the terminal is gone
                self._press("q")
                return
            for letter in _NO_LETTERS.sub("", pressed or "").lower():
                self._press(letter)

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """The terminal belongs to another program during the block, with lines and echo as usual."""
        if not sys.stdin.isatty() or not _has_terminals():
            yield
            return
        with self._mine, _attributes_kept():
            _ordinary_keys()
            yield


def editor() -> list[str]:
    """The command that opens a file for editing.

    Raises:
        KataError: none is set, and none of the usual ones is there.
    """
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not chosen and os.environ.get("TERM_PROGRAM") == "vscode":
        chosen = shutil.which("code")
    if not chosen:
        chosen = next(filter(None, map(shutil.which, EDITORS)), None)
    if not chosen:
        raise KataError("no editor is set; set EDITOR, for example to `code` or `vim`")
    return shlex.split(chosen)


def edit(file: Path) -> None:
    """Open `file` in the learner's editor and wait until that returns."""
    command = editor()
    try:
        done = subprocess.run([*command, str(file)], check=False)
    except OSError as error:
        raise KataError(f"{command[0]} cannot be started ({error.strerror}); set EDITOR to another") from None
    if done.returncode:
        raise KataError(f"{command[0]} ended with status {done.returncode}; set EDITOR to another?")


def _has_terminals() -> bool:
    try:
        import termios  # noqa: F401
    except ImportError:
        return False
    return True


@contextlib.contextmanager
def _attributes_kept() -> Iterator[None]:
    import termios

    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _single_keys() -> None:
    import termios
    import tty

    tty.setcbreak(sys.stdin)
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before anybody listened


def _ordinary_keys() -> None:
    import termios

    attributes = termios.tcgetattr(sys.stdin)
    attributes[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, attributes)
