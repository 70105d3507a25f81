"""What happens while `kata watch` runs, each as one event."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import watchfiles

from grader.course import sources
from grader.learner.watch.runs import JudgedVersion

DEBOUNCE, STEP = 50, 5
"""Milliseconds: how long a burst of changes may be gathered, and the pause that ends one."""
POLL = 0.5
"""Seconds between two looks at all files, where the system does not tell of changes."""


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


@dataclass(frozen=True)
class Polls:
    """Files are looked at from time to time from now on, since the system does not tell of changes."""

    why: str


Event = Saved | Key | JudgedVersion | Resized | Polls


@contextmanager
def saves(events: SimpleQueue[Event]) -> Iterator[None]:
    """Tell of every file that is saved during the block."""
    stop = threading.Event()

    def watch() -> None:
        folders = [*filter(Path.is_dir, sources.each("exercises"))]
        try:
            for changes in watchfiles.watch(*folders, debounce=DEBOUNCE, step=STEP, stop_event=stop):
                events.put(Saved(frozenset(Path(name) for _, name in changes)))
        except Exception as error:  # no inotify instance is left, or none works on this file system
            _poll(folders, events, stop, Polls(str(error) or type(error).__name__))

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        stop.set()


def _poll(folders: Sequence[Path], events: SimpleQueue[Event], stop: threading.Event, begins: Polls) -> None:
    before = _versions(folders)
    events.put(begins)
    while not stop.wait(POLL):
        now = _versions(folders)
        changed = frozenset(file for file, _ in before.items() ^ now.items())
        before = now
        if changed:
            events.put(Saved(changed))


def _versions(folders: Sequence[Path]) -> dict[Path, tuple[int, int, int]]:
    """What tells one version of a file from the next."""
    found = {}
    for folder, _, names in (step for place in folders for step in os.walk(place)):
        for name in names:
            file = Path(folder, name)
            try:
                state = file.stat()
            except OSError:  # gone since it was listed
                continue
            found[file] = (state.st_ino, state.st_size, state.st_mtime_ns)
    return found
