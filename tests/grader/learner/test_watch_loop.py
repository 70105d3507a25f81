"""The watcher's decisions, event by event, with a judge that answers when it is told to."""

import io
import threading
import time
from dataclasses import replace
from queue import SimpleQueue

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.course import rows
from grader.course.exercise import FOLDERS, digest
from grader.learner import commands
from grader.learner.watch import footer, terminal
from grader.learner.watch.events import Key, Polls, Resized, Saved
from grader.learner.watch.loop import Watcher
from grader.protocol.check import CheckSpec
from grader.protocol.feedback import Fact, Feedback
from grader.protocol.transcript import read
from grader.records import progress, progress_file
from grader.records.route import Route
from tests.grader.support.clone import ROW, SOLUTION, STUB

SLUGS = ("double", "twice", "thrice")
FIRST = Route("first")
PASSED = read(({"check": "public::t", "outcome": "passed"}, {"done": True}))
FAILED = read(
    ({"check": "public::t", "outcome": "failed", "feedback": Feedback("wrong").to_json()}, {"done": True})
)


class Judge:
    """Holds every request until the test answers it."""

    def __init__(self):
        self.inventory = {slug: [CheckSpec("public::t", "It doubles.")] for slug in SLUGS}
        self.asked = SimpleQueue()

    def judge_one(self, request):
        answered = threading.Event()
        box = []
        self.asked.put((request, box, answered))
        answered.wait(30)
        return box[0]

    def close(self):
        pass


class Loop:
    """A watcher and what it shows."""

    def __init__(self, folder, height=40, width=80, fine=False, path=FIRST):
        self.folder = folder
        self.judge = Judge()
        out = Console(file=io.StringIO(), force_terminal=True, width=width, height=height, color_system=None)
        self.out = out
        self.watcher = Watcher(out, rows.read(folder), self.judge, 3, SimpleQueue(), path, fine)
        self.open = []

    def file(self, number):
        return self.folder / "e01_tensors" / f"{SLUGS[number - 1]}.py"

    def save(self, *numbers, text=None):
        for number in numbers:
            self.file(number).write_text(text or f"# {time.monotonic()}")
        self.watcher.handle(Saved(frozenset(map(self.file, numbers))))

    def press(self, letter):
        return self.watcher.handle(Key(letter))

    def answer(self, findings, slug=None):
        """Answer the oldest open request, or the oldest one for `slug`, and handle its verdict."""
        while not (asked := [one for one in self.open if slug in (None, one[0].exercise.slug)]):
            self.open.append(self.judge.asked.get(timeout=30))  # threads ask, in whatever order
        found = asked[0]
        self.open.remove(found)
        _, box, answered = found
        box.append(findings)
        answered.set()
        self.watcher.handle(self.watcher.events.get(timeout=30))

    def shown(self):
        """The last screen."""
        return self.out.file.getvalue().split("\x1b[2J\x1b[H")[-1]


@pytest.fixture
def loop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FOLDERS, "exercises", tmp_path)
    monkeypatch.setattr(terminal, "here", lambda: "a terminal")
    monkeypatch.setattr(progress_file, "FILE", tmp_path / "progress.json")
    start = digest(STUB.encode())
    rows = [
        ROW.format(slug=slug, order=order, needs="[]", hints='["One.", "Two."]', start=start)
        for order, slug in enumerate(SLUGS, start=1)
    ]
    (tmp_path / "e01_tensors").mkdir()
    (tmp_path / "e01_tensors" / "section.toml").write_text('title = "Tensors"\n' + "".join(rows))
    loop = Loop(tmp_path)
    for number in (1, 2, 3):
        loop.file(number).write_text(STUB)
    yield loop
    for _, box, answered in [*loop.open, *iter_queue(loop.judge.asked)]:
        box.append(PASSED)
        answered.set()


def iter_queue(queue):
    while not queue.empty():
        yield queue.get()


def test_checking_is_shown_at_once_and_then_the_verdict(loop):
    loop.save(1)
    assert "checking double" in loop.shown()
    loop.answer(FAILED)
    assert "✗ double · It doubles." in loop.shown()
    loop.save(1)
    loop.answer(PASSED)
    assert "✓ double" in loop.shown()
    assert "1/3" in loop.shown()


def test_no_key_is_named_where_none_is_heard(loop, monkeypatch):
    monkeypatch.setattr(terminal, "here", lambda: None)
    deaf = Loop(loop.folder)
    deaf.save(1)
    deaf.answer(PASSED)
    assert "press n" not in deaf.shown() and "[n]ext" not in deaf.shown()
    assert "Ctrl-C ends" in deaf.shown()


def test_it_never_goes_on_by_itself(loop):
    loop.save(1)
    loop.answer(PASSED)
    assert loop.watcher.walk.focus.slug == "double"
    loop.press("n")
    assert "checking twice" in loop.shown()


def test_a_save_does_not_wait_for_the_run_before_it(loop):
    loop.save(1)
    loop.save(1)
    loop.answer(PASSED)  # the older version: its verdict says nothing any more
    assert "checking double" in loop.shown()
    loop.answer(FAILED)
    assert "✗ double" in loop.shown()


def test_an_older_verdict_that_comes_late_changes_nothing(loop):
    loop.save(1, text="old")
    loop.save(1, text="new")
    loop.watcher.handle(None)
    old = loop.judge.asked.get(timeout=30)
    loop.answer(PASSED)
    loop.open.append(old)
    loop.answer(FAILED)
    assert "✓ double" in loop.shown()
    assert loop.watcher.walk.states["double"] == "done"


def test_a_third_save_is_judged_when_a_run_has_ended(loop):
    for _ in range(3):
        loop.save(1)
    loop.answer(FAILED)
    loop.answer(FAILED)
    assert "checking double" in loop.shown()
    loop.answer(PASSED)
    assert "✓ double" in loop.shown()


def test_a_run_that_takes_its_time_says_so(loop):
    loop.save(1)
    loop.watcher.handle(None)
    assert "checking double … 0 s (it may take 10 s" in loop.shown()


def test_hints_are_shown_below_the_verdict(loop, monkeypatch):
    monkeypatch.setattr(commands, "hint", lambda slug, reveal: f"hint 1/2  for {slug}")
    loop.save(1)
    loop.answer(FAILED)
    loop.press("h")
    assert "✗ double" in loop.shown()
    assert "hint 1/2  for double" in loop.shown()
    loop.save(1)
    assert "hint 1/2" not in loop.shown()


def test_after_the_last_hint_s_offers_to_reveal(loop, monkeypatch):
    monkeypatch.setattr(commands, "load", lambda: loop.watcher.catalog)
    monkeypatch.setitem(FOLDERS, "solutions", loop.folder / "solutions")
    (loop.folder / "solutions" / "e01_tensors").mkdir(parents=True)
    (loop.folder / "solutions" / "e01_tensors" / "double.py").write_text(SOLUTION)
    loop.press("s")
    assert "double is not solved yet; `kata hint double` helps" in loop.shown()
    loop.press("h")
    assert "hint 1/2  One." in loop.shown()
    loop.press("h")
    assert "hint 2/2 (the last one)  Two." in loop.shown()
    loop.press("h")
    assert "hint 1/2  One." in loop.shown() and "no more hints: s shows the solution" in loop.shown()
    loop.press("s")
    assert "Show the solution of double?" in loop.shown()
    loop.press("n")
    assert "return x * 2.0" not in loop.shown() and not progress.revealed()
    loop.press("s")
    loop.press("y")
    assert "+    return x * 2.0" in loop.shown() and progress.revealed() == {"double"}
    loop.save(1)
    loop.answer(PASSED)
    assert "✓ double" in loop.shown()
    loop.press("s")
    assert "+    return x * 2.0" in loop.shown()


def test_verdicts_that_come_during_a_question_are_not_lost(loop, monkeypatch):
    monkeypatch.setattr(commands, "reset", lambda slug: f"{slug} is back")
    loop.save(1)
    loop.press("r")
    assert "y / n" in loop.shown()
    loop.answer(FAILED)
    assert "✗ double" in loop.shown()
    assert "y / n" in loop.shown()
    loop.press("x")
    assert "nothing was changed" in loop.shown()
    loop.press("r")
    loop.press("y")
    assert "double is back" in loop.shown()
    loop.save(1)  # by the reset itself
    loop.answer(FAILED)
    assert "double is back" in loop.shown()
    loop.save(1)
    loop.answer(FAILED)
    assert "double is back" not in loop.shown()


def test_a_file_that_goes_is_told(loop):
    loop.file(1).rename(loop.file(1).with_name("elsewhere.py"))
    loop.watcher.handle(Saved(frozenset([loop.file(1), loop.file(1).with_name("elsewhere.py")])))
    assert "double.py is gone; r puts its start back" in loop.shown()
    loop.save(1)
    loop.answer(PASSED)
    assert "✓ double" in loop.shown()


def test_that_files_are_polled_is_told_until_the_second_save(loop):
    loop.watcher.handle(Polls("Too many open files"))
    told = " ".join(loop.shown().split())
    assert "saves are looked for twice a second" in told and "Too many open files" in told
    for is_told in (True, False):
        loop.save(1)
        loop.answer(PASSED)
        assert ("saves are looked for" in loop.shown()) == is_told


def test_files_that_change_together_do_not_move_the_focus(loop):
    loop.save(1, 2, 3)
    assert loop.watcher.walk.focus.slug == "double"
    for slug in SLUGS:
        loop.answer(PASSED, slug)
    assert "✓ double" in loop.shown()
    assert "3/3" in loop.shown()


def test_files_of_no_exercise_change_nothing(loop):
    before = loop.shown()
    loop.watcher.handle(Saved(frozenset([loop.folder / "e01_tensors" / "notes.py", loop.folder / "x"])))
    assert loop.shown() == before


def test_what_nobody_has_begun_is_not_run(loop):
    loop.save(2)
    loop.answer(FAILED)
    loop.press("a")
    assert "checking all, 1 to go" in loop.shown()
    loop.save(2, text=STUB)
    loop.answer(FAILED)
    loop.answer(FAILED)
    assert "write, save" in loop.shown() and "raise NotImplementedError" in loop.shown()
    assert loop.watcher.walk.states["twice"] == "todo"


def test_all_are_run_while_a_save_goes_first(loop):
    for number in (1, 2, 3):
        loop.file(number).write_text("# begun")
    loop.press("a")
    assert "checking all, 3 to go" in loop.shown()
    loop.answer(PASSED)
    assert "2 to go" in loop.shown()
    loop.save(2)
    loop.answer(FAILED, "twice")
    loop.answer(FAILED, "twice")
    assert "✗ twice · It doubles." in loop.shown()
    loop.answer(PASSED)
    loop.press("a")
    assert "to go" in loop.shown()


def test_every_key_says_something_when_all_is_done(loop):
    loop.save(1, 2, 3)
    for slug in SLUGS:
        loop.answer(PASSED, slug)
    loop.press("n")
    assert "everything is done" in loop.shown()
    loop.press("l")
    assert "> ✓ ex01 double" in loop.shown()
    loop.press("?")
    assert "put the start back" in loop.shown()
    assert loop.press("q") is False


def test_the_screen_fits_into_the_window(loop):
    low = Loop(loop.folder, height=14)
    low.save(1)
    told = Feedback("\n".join(map(str, range(30)))).to_json()
    low.answer(read(({"check": "public::t", "outcome": "failed", "feedback": told}, {"done": True})))
    assert len(low.shown().splitlines()) <= 14
    assert "lines more" in low.shown()
    low.watcher.handle(Resized())
    assert footer.KEYS in low.shown()


LONG = "Scores that are not asked for, say those of a head that was switched off, leave every other as it is."


def many(outcome, count=14, printed=""):
    """What is told where so many checks have ended alike."""
    told = Feedback("wrong", (Fact("", "more"),) * 9).to_json()
    lines = [{"check": f"public::t{i}", "outcome": outcome, "feedback": told} for i in range(count)]
    return read(({**lines[0], "printed": printed}, *lines[1:], {"done": True}))


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 30), (80, 16), (60, 24), (100, 40)])
@pytest.mark.parametrize("printed", ["", "word " * 60 + "\n", "short\n" * 40], ids=["", "wide", "flood"])
def test_titles_give_way_before_the_way_on_does(loop, width, height, printed):
    here = Loop(loop.folder, height, width)
    here.judge.inventory["double"] = [CheckSpec(f"public::t{i}", f"{i}. {LONG}") for i in range(14)]
    here.save(1)
    here.answer(many("passed", printed=printed))
    rows = here.shown().splitlines()
    assert len(rows) < height and max(map(cell_len, rows)) <= width
    assert "press n" in here.shown() and "read       https" in here.shown()
    assert "14 passed" in here.shown()
    assert ("printed:" in here.shown()) == bool(printed)
    here.save(1)
    here.answer(many("failed", printed=printed))
    rows = here.shown().splitlines()
    assert len(rows) < height and max(map(cell_len, rows)) <= width
    assert "lines more" in here.shown() or height > 24
    assert "13 more" in here.shown() or height < 20


def test_of_two_functions_the_one_that_is_still_to_write_is_named(loop):
    loop.judge.inventory["double"] = [CheckSpec(f"public::t{i}", f"Check {i}.") for i in range(4)]
    todo = {"check": "public::t3", "outcome": "todo", "unwritten": "halve"}
    passed = [{"check": f"public::t{i}", "outcome": "passed"} for i in range(3)]
    loop.save(1)
    loop.answer(read((*passed, todo, {"done": True})))
    assert "· double · still to write: halve" in loop.shown()
    assert all(f"✓ Check {i}." in loop.shown() for i in range(3))
    failed = {"check": "public::t0", "outcome": "failed"}
    loop.save(1)
    loop.answer(read((failed, *passed[1:], todo, {"done": True})))
    assert "✗ double · Check 0." in loop.shown() and "· still to write: halve" in loop.shown()


FINE = [
    CheckSpec("public::t", "It doubles."),
    *(CheckSpec(f"hidden::f{i}", f"{i}.", fine=True) for i in range(3)),
]


def rungs(job, *fine):
    """What is told of a check of the job and some of the fine print."""
    outcomes = {"public::t": job, **{f"hidden::f{i}": outcome for i, outcome in enumerate(fine)}}
    told = Feedback("wrong strides").to_json()
    lines = [{"check": id, "outcome": outcome, "feedback": told} for id, outcome in outcomes.items()]
    return read((*lines, {"done": True}))


def test_what_does_its_job_is_told_so_and_n_goes_on(loop):
    loop.judge.inventory["double"] = FINE
    loop.save(1)
    loop.answer(rungs("passed", "failed", "passed", "failed"))
    assert "+ double · it does its job, 1 of 1; fine print 1 of 3" in loop.shown()
    assert all(f"✗ {i}.\n" in loop.shown() for i in (0, 2)) and "wrong strides" in loop.shown()
    assert "twice.py   press n" in loop.shown() and "1/3 ▒" in loop.shown()
    loop.press("l")
    assert "> + ex01 double" in loop.shown()
    loop.save(2, 3)
    loop.answer(PASSED, "twice")
    loop.answer(PASSED, "thrice")
    loop.press("n")
    assert "everything does its job; `kata watch --fine`" in loop.shown()
    loop.save(1)
    loop.answer(rungs("passed", "passed", "passed", "passed"))
    assert "✓ double · it does its job, 1 of 1; fine print 3 of 3" in loop.shown()


def test_a_second_round_goes_through_what_works(loop):
    known = rows.read(loop.folder).exercises
    progress.remember(dict(zip(known, ("done", "works", "works"), strict=True)))
    again = Loop(loop.folder, fine=True)
    again.judge.inventory["twice"] = FINE
    assert again.watcher.walk.focus.slug == "twice"
    again.save(2)
    again.answer(rungs("passed", "failed", "passed", "passed"))
    assert "fine print 2 of 3" in again.shown() and "thrice.py   press n" in again.shown()
    again.save(2)
    again.answer(rungs("passed", "passed", "passed", "passed"))
    again.press("n")
    assert "checking thrice" in again.shown()
    again.answer(PASSED)
    again.press("n")
    assert "no fine print is left of what works" in again.shown()


def test_while_the_job_fails_the_fine_print_is_a_title(loop):
    loop.judge.inventory["double"] = FINE[1:] + FINE[:1]
    loop.save(1)
    loop.answer(rungs("failed", "failed", "passed", "passed"))
    assert "✗ double · It doubles." in loop.shown() and "✗ fine print: 0." in loop.shown()
    assert loop.shown().count("wrong strides") == 1


@pytest.mark.parametrize("height", [16, 20, 24, 40])
def test_of_much_fine_print_the_way_on_stays(loop, height):
    here = Loop(loop.folder, height)
    fine = [CheckSpec(f"public::t{i}", f"{i}. {LONG}", fine=True) for i in range(14)]
    here.judge.inventory["double"] = [CheckSpec("public::job", "It doubles."), *fine]
    told = {"check": "public::job", "outcome": "passed"}
    failed = many("failed")
    here.save(1)
    here.answer(replace(failed, checks={**failed.checks, **read((told,)).checks}))
    assert len(here.shown().splitlines()) < height
    assert "fine print 0 of 14" in here.shown() and "press n" in here.shown()


def test_a_note_makes_the_verdict_lower_and_another_window_makes_it_anew(loop):
    loop.judge.inventory["double"] = [CheckSpec(f"public::t{i}", f"{i}. {LONG}") for i in range(14)]
    loop.save(1)
    loop.answer(many("passed"))
    assert "13. Scores" in loop.shown()
    loop.out.height = 20
    loop.watcher.handle(Resized())
    assert "13. Scores" not in loop.shown() and "lines more" in loop.shown() and "press n" in loop.shown()
    loop.press("r")
    assert "press n" in loop.shown() and "y / n" in loop.shown()
    assert len(loop.shown().splitlines()) < 20


def test_a_fault_of_the_judge_does_not_end_the_loop(loop):
    loop.judge.judge_one = lambda request: 1 / 0
    loop.save(1)
    loop.watcher.handle(loop.watcher.events.get(timeout=30))
    assert "the engine failed: ZeroDivisionError" in loop.shown()
