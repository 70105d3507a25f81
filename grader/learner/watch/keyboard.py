"""Single keys from a terminal, and the terminal lent to an editor."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.core.errors import KataError
from grader.learner.watch import terminal
from grader.learner.watch.terminal import Terminal

LOOK_EVERY = 0.2
"""Seconds between two looks at whether the terminal is lent to somebody else."""

_NO_LETTERS = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
"""Arrows, function keys and the like, which arrive as several characters."""

EDITORS = ("nano", "vim", "vi")
"""What is tried where no editor is set: the one that says how to leave it comes first."""


_NAMED = {"[A": "up", "[B": "down", "[C": "right", "[D": "left", "[5~": "pageup", "[6~": "pagedown"}
_NAMED |= {"[H": "home", "[1~": "home", "[F": "end", "[4~": "end"}
"""Keys without a letter, by what comes after an escape; some terminals write O for [."""
_PRESSED = re.compile(_NO_LETTERS.pattern + "|.", re.DOTALL)


def letters(pressed: str | None) -> str:
    """The letters in what was typed, small."""
    return _NO_LETTERS.sub("", pressed or "").lower()


def keys_in(pressed: str | None) -> Iterator[str]:
    """The keys that were pressed: letters, small; "up", "pagedown", "home", "enter" and the like."""
    for found in _PRESSED.finditer(pressed or ""):
        key = found[0]
        if key.startswith("\x1b"):
            named = _NAMED.get(key[1:].replace("O", "["))
            yield from [named] if named else []
        else:
            yield "enter" if key in "\r\n" else key.lower()


class Keyboard:
    """Hands on each key that is pressed, without waiting for Enter, from a thread of its own."""

    def __init__(self, press: Callable[[str], None]) -> None:
        self._press = press
        self._terminal = terminal.here()
        self._mine = threading.Lock()  # held by whoever may read from the terminal

    @property
    def is_heard(self) -> bool:
        """Whether there is a terminal that gives single keys."""
        return self._terminal is not None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Hand on keys during the block. Does nothing where none are heard."""
        if self._terminal is None:
            yield
            return
        stop = threading.Event()
        thread = threading.Thread(target=self._listen, args=(self._terminal, stop), daemon=True)
        with self._terminal.single_keys():
            thread.start()
            try:
                yield
            finally:
                stop.set()
                thread.join()  # or it would take the first keys that the shell should get

    def _listen(self, keys: Terminal, stop: threading.Event) -> None:
        while not stop.is_set():
            with self._mine:
                pressed = keys.read(LOOK_EVERY)
            if pressed == "":  # the terminal is gone
                self._press("q")
                return
            for key in keys_in(pressed):
                self._press(key)

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """The terminal belongs to another program during the block, with lines and echo as usual."""
        if self._terminal is None:
            yield
            return
        with self._mine, self._terminal.ordinary():
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
