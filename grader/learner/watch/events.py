"""What happens while `kata watch` runs, each as one event."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import watchfiles

from grader.course import sources
from grader.learner.watch.runs import JudgedVersion

DEBOUNCE, STEP = 50, 5
"""Milliseconds: how long a burst of changes may be gathered, and the pause that ends one."""


@dataclass(frozen=True)
class Saved:
    """What changed at the same moment: nearly always one file."""

    files: frozenset[Path]


@dataclass(frozen=True)
class Key:
    """A key was pressed: a letter, or one with a name, such as "up"."""

    letter: str


@dataclass(frozen=True)
class Resized:
    """The window has another size."""


Event = Saved | Key | JudgedVersion | Resized


@contextmanager
def saves(events: SimpleQueue[Event]) -> Iterator[None]:
    """Tell of every file that is saved during the block."""
    stop = threading.Event()

    def watch() -> None:
        folders = filter(Path.is_dir, sources.each("exercises"))
        for changes in watchfiles.watch(*folders, debounce=DEBOUNCE, step=STEP, stop_event=stop):
            events.put(Saved(frozenset(Path(name) for _, name in changes)))

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        stop.set()
