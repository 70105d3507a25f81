"""Watch `exercises/` and judge each file as it is saved.

Three threads only wait and put what happens into one queue: files that change, keys, verdicts. The
main loop takes one event at a time and draws the screen.
"""

import contextlib
import os
import select
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import watchfiles
from rich.console import Console, RenderableType
from rich.text import Text

from grader import learner, paths, progress, screen
from grader.catalog import Catalog, Exercise, load
from grader.errors import KataError
from grader.lesson import Lesson, learn
from grader.pool import Pool, Request
from grader.progress import State


@dataclass(frozen=True)
class Saved:
    file: Path


@dataclass(frozen=True)
class Key:
    letter: str


@dataclass(frozen=True)
class Judged:
    lesson: Lesson


Event = Saved | Key | Judged


def run(out: Console) -> None:
    """Judge every exercise that is saved, until somebody quits."""
    if not hasattr(os, "fork"):
        _run_pytest(out)
        return
    catalog = load()
    out.print("warming up: importing torch and the suites, once …")
    with Pool(catalog.exercises, jobs=os.cpu_count() or 1, confined=False) as pool:
        Watcher(out, catalog, pool).run()


class Watcher:
    """The loop: one exercise in focus, and what was seen of all others."""

    def __init__(self, out: Console, catalog: Catalog, pool: Pool) -> None:
        self.out = out
        self.catalog = catalog
        self.pool = pool
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.judges = ThreadPoolExecutor(max_workers=os.cpu_count() or 1)
        self.busy: set[str] = set()
        self.again: set[str] = set()
        self.listing = False  # all are being checked: show the map as verdicts come in
        self.states: dict[str, State] = {e.slug: progress.state(e.slug) for e in catalog.exercises}
        self.focus = self._first_unfinished()

    def run(self) -> None:
        stop = threading.Event()
        threading.Thread(target=self._watch_files, args=(stop,), daemon=True).start()
        with _single_keys() as keys:
            if keys:
                threading.Thread(target=self._watch_keys, args=(stop,), daemon=True).start()
            self._draw(self._welcome())
            try:
                while self._handle(self.events.get()):
                    pass
            except KeyboardInterrupt:
                pass
            finally:
                stop.set()
        self.judges.shutdown(wait=False, cancel_futures=True)
        self.out.print("until next time")

    def _first_unfinished(self) -> Exercise:
        return next(
            (e for e in self.catalog.exercises if self.states[e.slug] != "done"), self.catalog.exercises[0]
        )

    def _welcome(self) -> RenderableType:
        file = paths.shown(self.focus.file("exercises"))
        return Text(f"ready. Open {file}, read the statement, write, save.")

    def _watch_files(self, stop: threading.Event) -> None:
        for changes in watchfiles.watch(paths.EXERCISES, debounce=60, step=15, stop_event=stop):
            for name in sorted({name for change, name in changes if change != watchfiles.Change.deleted}):
                self.events.put(Saved(Path(name)))

    def _watch_keys(self, stop: threading.Event) -> None:
        while not stop.is_set():
            if select.select([sys.stdin], [], [], 0.2)[0]:
                letter = os.read(sys.stdin.fileno(), 1).decode(errors="replace")
                self.events.put(Key(letter.lower() or "q"))
                if not letter:
                    return

    def _handle(self, event: Event) -> bool:
        """Do what an event asks for; False to leave."""
        if isinstance(event, Saved):
            exercise = self.catalog.of_stem(event.file.stem) if event.file.suffix == ".py" else None
            if exercise is not None:
                self.focus = exercise
                self._check(exercise)
        elif isinstance(event, Judged):
            self._show(event.lesson)
        elif event.letter == "q":
            return False
        else:
            self._press(event.letter)
        return True

    def _check(self, exercise: Exercise) -> None:
        if exercise.slug in self.busy:
            self.again.add(exercise.slug)
            return
        try:
            answer = exercise.file("exercises").read_bytes()
        except OSError:
            self._draw(
                Text(f"{paths.shown(exercise.file('exercises'))} is gone; r puts its start back", "yellow")
            )
            return
        self.busy.add(exercise.slug)
        if exercise is self.focus and not self.listing:
            self._draw(Text(f"checking {exercise.slug} …", "dim"))
        self.judges.submit(self._judge, exercise, answer)

    def _judge(self, exercise: Exercise, answer: bytes) -> None:
        request = Request(exercise, answer, seed=0, mode="check")
        findings = self.pool.judge_one(request)
        self.events.put(Judged(learn(exercise, self.pool.inventory.get(exercise.slug, []), findings)))

    def _show(self, found: Lesson) -> None:
        slug = found.exercise.slug
        self.busy.discard(slug)
        self.states[slug] = found.state
        progress.remember({slug: found.state})
        if slug in self.again:
            self.again.discard(slug)
            self._check(found.exercise)
        elif self.listing:
            self.listing = bool(self.busy)
            self._list()
        elif found.exercise is self.focus:
            self._draw(screen.lesson(found, self.catalog))

    def _press(self, letter: str) -> None:
        try:
            if letter == "n":
                self._next()
            elif letter == "h":
                self._draw(Text(learner.hint(self.focus.slug)))
            elif letter == "l":
                self._list()
            elif letter == "a":
                self._check_all()
            elif letter == "r":
                self._reset()
            elif letter == "e":
                self._edit()
        except KataError as error:
            self._draw(Text(str(error), "yellow"))

    def _next(self) -> None:
        """Go on to the next unfinished exercise; only ever on demand."""
        everything = self.catalog.exercises
        place = everything.index(self.focus) + 1
        rest = [*everything[place:], *everything[:place]]
        self.focus = next((e for e in rest if self.states[e.slug] != "done"), self.focus)
        self._check(self.focus)

    def _list(self) -> None:
        section = next(s for s in self.catalog.sections if s.name == self.focus.section)
        self._draw(screen.listing(section, self.states))

    def _check_all(self) -> None:
        self.listing = True
        for exercise in self.catalog.exercises:
            self._check(exercise)

    def _reset(self) -> None:
        file = paths.shown(self.focus.file("exercises"))
        self._draw(Text(f"Put the start of {file} back? Your version is kept. y / n", "yellow"))
        event = self.events.get()
        while not isinstance(event, Key):
            event = self.events.get()
        told = learner.reset(self.focus.slug) if event.letter == "y" else "nothing was changed"
        self._draw(Text(told))

    def _edit(self) -> None:
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not editor:
            raise KataError("no editor is set; set EDITOR, for example to `code` or `vim`")
        with _ordinary_keys():
            subprocess.run([*shlex.split(editor), str(self.focus.file("exercises"))], check=False)
        self._check(self.focus)

    def _draw(self, body: RenderableType) -> None:
        section = next(s for s in self.catalog.sections if s.name == self.focus.section)
        if self.out.is_terminal:
            self.out.clear()
        self.out.print(body, soft_wrap=False)
        self.out.print()
        self.out.print(screen.bars(section, self.catalog, self.states))
        file = paths.shown(self.focus.file("exercises"))
        self.out.print(Text(f"{file}   {screen.KEYS}", "dim"), soft_wrap=True)


@contextlib.contextmanager
def _single_keys() -> Iterator[bool]:
    """Read keys without waiting for Enter; False where the input is no terminal."""
    if not sys.stdin.isatty():
        yield False
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield True
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _ordinary_keys() -> Iterator[None]:
    """Lines and echo again, for a program that takes the terminal over."""
    import termios
    import tty

    attributes = termios.tcgetattr(sys.stdin)
    attributes[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, attributes)
    try:
        yield
    finally:
        tty.setcbreak(sys.stdin)


def _run_pytest(out: Console) -> None:
    """Where there is no fork: a pytest process for each save."""
    out.print(f"watching {paths.shown(paths.EXERCISES)}: save an exercise to have it judged, Ctrl-C to leave")
    catalog = load()
    with contextlib.suppress(KeyboardInterrupt):
        for changes in watchfiles.watch(paths.EXERCISES, raise_interrupt=True):
            for exercise in {catalog.of_stem(Path(name).stem) for _, name in changes} - {None}:
                assert exercise is not None
                suites = [str(exercise.file(t)) for t in ("public", "hidden") if exercise.file(t).exists()]
                out.print(f"checking {exercise.slug} …", markup=False)
                subprocess.run([sys.executable, "-m", "pytest", "-q", *suites], cwd=paths.ROOT, check=False)
