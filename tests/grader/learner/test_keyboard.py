"""Keys, where the terminal gives them by other means than ours does, and where it gives none."""

import sys
import threading
from types import SimpleNamespace

import pytest

from grader.learner.watch import terminal
from grader.learner.watch.keyboard import Keyboard


class Console:
    """Windows' msvcrt, with keys that somebody has pressed."""

    def __init__(self, keys):
        self.keys = list(keys)

    def kbhit(self):
        return bool(self.keys)

    def getwch(self):
        return self.keys.pop(0)


@pytest.fixture
def windows(monkeypatch):
    """Let this be a platform without termios; gives what is to type on it."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setitem(sys.modules, "termios", None)

    def typed(keys):
        monkeypatch.setitem(sys.modules, "msvcrt", Console(keys))

    return typed


def test_windows_gives_keys_too(windows):
    windows(["H", "\xe0", "n", "\x00", "a", "l", "\x03"])
    pressed, ended = [], threading.Event()

    def press(letter):
        pressed.append(letter)
        if letter == "q":
            ended.set()

    keyboard = Keyboard(press)
    assert keyboard.is_heard
    with keyboard.listening():
        assert ended.wait(30)
    assert pressed == ["h", "l", "q"]  # arrows are no letters, and Ctrl-C ends it
    with keyboard.lent():
        pass


def test_without_any_way_to_read_keys_none_are_heard(windows, monkeypatch):
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    keyboard = Keyboard(pytest.fail)
    assert not keyboard.is_heard
    with keyboard.listening(), keyboard.lent():
        pass


def test_what_is_no_terminal_gives_no_keys(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False))
    assert terminal.here() is None
