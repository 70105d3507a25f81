"""Watch `exercises/` and judge each file as it is saved.

Threads only wait and put what happens into one queue: files that change, keys, verdicts. The main loop
takes one event at a time and draws the screen.
"""

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic

from rich.console import Console, Group, RenderableType
from rich.text import Text

from grader.core.errors import KataError
from grader.course import missing, paths
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.learner import again, commands, debrief, mending, reading, seen
from grader.learner.watch import cells, footer, keyboard, links, screen, taught
from grader.learner.watch.browser import Browser
from grader.learner.watch.confirmation import Confirmation
from grader.learner.watch.events import Event, Key, Polls, Resized, Saved
from grader.learner.watch.keyboard import Keyboard
from grader.learner.watch.runs import JudgedVersion, Runs
from grader.learner.watch.walk import Walk
from grader.learner.watch.window import Window
from grader.protocol.judge import Judge
from grader.protocol.statuses import SETTLED, SOLVED
from grader.records import capstones, practice, progress
from grader.records.route import Route


class Watcher:
    """The loop: one exercise in focus, and what was seen of all others."""

    def __init__(
        self,
        out: Console,
        catalog: Catalog,
        warm: Judge,
        jobs: int,
        events: SimpleQueue[Event],
        path: Route,
        fine: bool,
        at: Exercise | None = None,
    ) -> None:
        self.catalog = catalog
        self.walk = Walk(catalog, path, fine, at)
        self.browser: Browser | None = None  # the list, while it is shown
        self.events = events
        self.keyboard = Keyboard(lambda letter: self.events.put(Key(letter)))
        self.runs = Runs(warm, jobs, self.events.put, self._begun)
        self.places = {e.place("exercises"): e for e in catalog.exercises}
        self.started = 0.0  # when the run of the focus began
        self.confirmation = Confirmation(self.walk, self._say, self._draw)
        self.is_map = False  # the map of the course is shown, while all are checked
        has_keys = self.keyboard.is_heard
        self.window = Window(
            out, catalog, path, screen.asked(self.walk.focus), footer.KEYS if has_keys else footer.NO_KEYS
        )
        self.verdict: tuple[Exercise, RenderableType] | None = None  # the latest on what is in focus
        self.is_news = False  # the note outlives the next save, which is our own

    def run(self) -> None:
        """Show verdicts and take keys, until the person quits."""
        if hasattr(signal, "SIGWINCH"):
            # A SimpleQueue may be put to from a signal handler, even while it is waited for.
            signal.signal(signal.SIGWINCH, lambda *_: self.events.put(Resized()))
        with self.keyboard.listening():
            self.window.ready = "ready: "
            self._draw(self.window.body)
            self.window.ready = ""
            if self.walk.fine or self.walk.focus.is_capstone:  # which is to be seen as it is
                self.runs.begin(self.walk.focus)
            try:
                while self.handle(self._next_event()):
                    pass
            finally:
                self.runs.close()
                progress.stay(self.walk.focus)

    def _next_event(self) -> Event | None:
        """What happens next; None after a second in which nothing did while the focus is judged."""
        is_ticking = (
            self.window.out.is_terminal and not self.is_map and self.runs.is_open(self.walk.focus.slug)
        )
        try:
            return self.events.get(timeout=1.0 if is_ticking else None)
        except Empty:
            return None

    def handle(self, event: Event | None) -> bool:
        """Do what an event asks for; False to leave."""
        if event is None:
            self._tick()
        elif isinstance(event, Resized):
            self._draw(self.window.body)
        elif isinstance(event, Saved):
            self._saved(event.files)
        elif isinstance(event, JudgedVersion):
            self._judged(event)
        elif isinstance(event, Polls):
            told = f"saves are looked for twice a second, since the system does not tell of them: {event.why}"
            self._say(told, is_news=True)
        elif self.confirmation.is_open:
            self.confirmation.answer(event.letter)
        elif event.letter == "q":
            return False
        elif self.browser is None or not self._browse(self.browser, event.letter):
            self._press(event.letter)
        return True

    def _saved(self, files: frozenset[Path]) -> None:
        places = (place for file in sorted(files) for place in (file, *file.parents) if place in self.places)
        exercises = [self.places[place] for place in dict.fromkeys(places)]
        if not exercises:
            return
        there = [e for e in exercises if e.file("exercises").exists()]
        if len(there) == 1:  # several at once: git, not the learner's editor
            self.walk.focus = there[0]
        self.is_map = False
        self.confirmation.drop()
        self._close_list()
        self.window.note = self.window.note if self.is_news else None
        self.is_news = False
        for exercise in there:
            self.runs.begin(exercise)
        if self.walk.focus in exercises and self.walk.focus not in there:
            self._tell_gone()

    def _tell_gone(self) -> None:
        file = paths.shown(self.walk.focus.file("exercises"))
        gone = missing.renamed(self.walk.focus) or f"{file} is gone"
        self._draw(Text(f"{gone}; r puts its start back", "yellow"))

    def _begun(self, exercise: Exercise, is_there: bool) -> None:
        if exercise is self.walk.focus and not is_there:
            self._tell_gone()
        elif exercise is self.walk.focus and not self.is_map:
            self.started = monotonic()
            self._draw(screen.checking(exercise))

    def _judged(self, event: JudgedVersion) -> None:
        exercise, state = event.lesson.exercise, event.lesson.mark
        is_latest = self.runs.ended(event)
        if is_latest:
            self.walk.saw(exercise, state)
            failed = [failure.check for failure in event.lesson.failures]
            capstones.saw(exercise, failed, event.lesson.held, is_solved=state in SOLVED)
        if self.is_map:
            self._draw(self._map())
        elif self.browser is not None:
            self._draw(self.browser.shown(self.walk.states))
        elif is_latest and exercise is self.walk.focus:
            before = self.walk.step_before() if state == "failing" else None
            lesson, note = replace(event.lesson, before=before), ""
            if state in SOLVED and (once := practice.begun()) and once.slug == exercise.slug:
                note = "done again; t shows then and now, side by side"
            elif state in SOLVED and self.walk.is_read() and seen.file(self.catalog.section(exercise)):
                note = f"you have been through {exercise.section}; w shows what your answers make"
            has_keys, far = self.keyboard.is_heard, mending.of(lesson)
            told = screen.lesson(lesson, self.walk.following(), far, has_keys=has_keys)
            self.verdict = (exercise, told)
            self._draw(told, note)
        elif is_latest:
            self._draw(self.window.body)  # the bars have moved
        if is_latest:
            # after the verdict is shown: it waits for the disk
            practice.note(progress.remember({exercise: state}))

    def _tick(self) -> None:
        """The focus takes its time: say how long, and how long it may."""
        self._draw(screen.checking(self.walk.focus, monotonic() - self.started))

    def _press(self, letter: str) -> None:
        keys = {
            "n": self._go_on,
            "p": lambda: self._go(self.walk.go_to_previous),
            "b": lambda: self._go(self.walk.go_back),
            "h": self._hint,
            "s": self.confirmation.solve,
            "l": self._list,
            "a": self._check_all,
            "r": self.confirmation.restart,
            "e": self._edit,
            "t": self._then_and_now,
            "w": self._see,
            "v": self._turn,
            "c": self._chapter,
            "o": self._links,
            "?": self._all_keys,
        }
        if self.window.scroll.press(letter):
            self._draw(self.window.body)
        if letter not in keys:
            return
        self.is_map = False
        self._close_list()
        self.window.note = None
        try:
            keys[letter]()
        except KataError as error:
            self._say(str(error))

    def _go_on(self) -> None:
        passed = self.walk.go_on()
        self.runs.begin(self.walk.focus)
        if passed:
            names = ", ".join(e.slug for e in passed)
            self._say(f"passed over, as optional: {names}; l has {'it' if len(passed) == 1 else 'them'}")
        elif self.walk.is_first_exercise():
            self._say("your first exercise: once its job works, n goes on; the fine print can wait")

    def _go(self, move: Callable[[], None]) -> None:
        """Put another exercise in focus; only ever on demand."""
        move()
        self.runs.begin(self.walk.focus)

    def _list(self) -> None:
        self.browser = Browser(self.catalog, self.walk.focus, self.window)
        self._draw(self.browser.shown(self.walk.states))

    def _browse(self, shown: Browser, key: str) -> bool:
        """Whether a key was for the list: one that moves, opens or closes it."""
        if shown.press(key):
            self._draw(shown.shown(self.walk.states))
            return True
        if key not in ("enter", "l"):
            return False
        self._close_list()
        if key == "enter":
            self.walk.focus = shown.at
            self.runs.begin(shown.at)
        else:
            self._draw(shown.behind)
        return True

    def _close_list(self) -> None:
        if self.browser is not None:
            self.browser.close()
        self.browser = None

    def _turn(self) -> None:
        """Show the statement where the verdict is shown, and else the verdict."""
        exercise, told = self.verdict or (None, None)
        is_there = told is not None and exercise is self.walk.focus and self.window.body is not told
        self._draw(told if told is not None and is_there else screen.asked(self.walk.focus))

    def _hint(self) -> None:
        """A hint, with a picture of the worked example where that is small."""
        told = Text(commands.hint(self.walk.focus.slug, reveal="s"), "yellow")
        drawn = cells.of_example(screen.statement(self.walk.focus))
        self.window.note = Group(told, drawn) if drawn else told
        self._draw(self.window.body)

    def _chapter(self) -> None:
        """The chapter, at the call that the focus is about."""
        self._draw(reading.shown(self.walk.focus.section))
        row = taught.row_of(self.walk.focus)
        self.window.go_to(row.name if row else "")
        self._draw(self.window.body)

    def _links(self) -> None:
        focus = self.walk.focus
        is_open = self.walk.states[focus.slug] in SETTLED or focus.slug in progress.revealed()
        self.window.note = links.of(focus, is_open=is_open)
        self._draw(self.window.body)

    def _all_keys(self) -> None:
        self._draw(footer.all_keys())

    def _see(self) -> None:
        if self.walk.focus.is_capstone:
            self._draw(debrief.shown(self.walk.focus.slug))
            return
        behind = self.window.body
        self._draw(Text("drawing …", "dim"))
        try:
            self._draw(Text(seen.drawn(self.catalog.section(self.walk.focus))))
        except KataError:
            self.window.body = behind
            raise

    def _then_and_now(self) -> None:
        done = again.finished(self.catalog)
        if done is None:
            raise KataError("nothing was done again; `kata again` takes what was solved a while ago")
        self._draw(again.compared(done))

    def _check_all(self) -> None:
        self.is_map = True
        self.runs.begin_all(self.catalog.exercises)
        self._draw(self._map())

    def _map(self) -> RenderableType:
        return screen.checking_all(self.catalog, self.walk.states, self.runs.left())

    def _edit(self) -> None:
        with self.keyboard.lent():
            keyboard.edit(self.walk.focus.file("exercises"))
        self.runs.begin(self.walk.focus)

    def _say(self, note: str, *, is_news: bool = False) -> None:
        """Show a note below the verdict, until the next save; news outlive the next one, which is our own."""
        self.is_news = is_news
        self._draw(self.window.body, note)

    def _draw(self, body: RenderableType, note: str = "") -> None:
        self.window.note = Text(note, "yellow") if note else self.window.note
        self.window.draw(body, self.walk.focus, self.walk.states)
