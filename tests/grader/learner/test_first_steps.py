"""The first minutes of `kata watch`: the question, what is asked on the screen, steps and the way back."""

import contextlib
import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import FOLDERS, digest
from grader.course.rows import read
from grader.course.statement import Statement
from grader.learner import seen
from grader.learner.watch import footer, question, screen, statement, terminal
from grader.learner.watch.events import Saved
from grader.learner.watch.room import Room
from grader.learner.watch.window import Window
from grader.records import progress, progress_file
from grader.records.route import Route
from tests.grader.learner.test_watch_loop import FAILED, PASSED, Loop
from tests.grader.support.clone import ROW, STUB

STEP_ROW = """[exercise.{slug}]
title = "Double"
concepts = ["mul"]
hints = ["One."]
start = "{start}"
optional = {optional}
"""
STEPS = ("half", "third")
EXERCISES = ("double", "twice")


class Keys:
    """A terminal on which somebody presses these, and which then is gone."""

    def __init__(self, *pressed):
        self.pressed = list(pressed)

    def single_keys(self):
        return contextlib.nullcontext()

    ordinary = single_keys

    def read(self, seconds):
        return self.pressed.pop(0) if self.pressed else ""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two steps, of which the second is optional, and two exercises, of which the first needs both."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FOLDERS, "exercises", tmp_path)
    monkeypatch.setattr(terminal, "here", lambda: "a terminal")
    monkeypatch.setattr(progress_file, "FILE", tmp_path / "progress.json")
    start = digest(STUB.encode())
    section, steps = tmp_path / "e01_tensors", tmp_path / "e01_tensors" / "steps"
    steps.mkdir(parents=True)
    rows = [
        ROW.format(slug=slug, order=n, needs=needs, hints='["One."]', start=start)
        for n, (slug, needs) in enumerate(zip(EXERCISES, ('["half", "third"]', "[]"), strict=True), 1)
    ]
    (section / "section.toml").write_text('title = "Tensors"\n' + "".join(rows))
    rows = [
        STEP_ROW.format(slug=slug, order=n, start=start, optional=str(n == 2).lower())
        for n, slug in enumerate(STEPS, 1)
    ]
    (steps / "steps.toml").write_text("\n".join(rows))
    for exercise in read(tmp_path).exercises:
        exercise.file("exercises").write_text(STUB)
    return tmp_path


class StepLoop(Loop):
    """A watcher of steps and exercises."""

    def __init__(self, folder, path, **about):
        super().__init__(folder, path=path, **about)
        check = self.judge.inventory["double"]
        self.judge.inventory = {e.slug: check for e in self.watcher.catalog.exercises}
        self.watcher.window.draw(self.watcher.window.body, self.watcher.walk.focus, self.watcher.walk.states)

    def save_as(self, slug, outcome):
        file = self.watcher.catalog.exercise(slug).file("exercises")
        file.write_text(f"# {slug}")
        self.watcher.handle(Saved(frozenset([file])))
        self.answer(outcome)


def asked(folder, *pressed):
    out = Console(file=io.StringIO(), width=80, height=24)
    return question.ask(out, Keys(*pressed), read(folder)), out.file.getvalue()


@pytest.mark.parametrize(
    ("pressed", "wanted"),
    [
        ("1", Route("first")),
        ("\n", Route("first")),
        ("2", Route("core")),
        ("3a", Route("section", "e01_tensors")),
        ("3zA", Route("section", "e01_tensors")),
        ("x\x1b[A2", Route("core")),
        ("q", None),
        ("3q", None),
        ("", None),
    ],
)
def test_one_question_has_three_answers(folder, pressed, wanted):
    answer, shown = asked(folder, None, *(["x\x1b[A", "2"] if "\x1b" in pressed else pressed))
    assert answer == wanted
    assert max(map(len, shown.splitlines())) <= 80
    assert "How well do you know PyTorch?" in shown and "kata path" in shown
    assert ("a  e01_tensors      Tensors" in shown) == ("3" in pressed)


def path(folder, may_ask=True):
    course = read(folder)
    out = Console(file=io.StringIO(), width=80, height=24)
    states = progress.states(course)
    return question.path(out, course, states, may_ask=may_ask), out.file.getvalue()


def test_it_is_asked_once(folder, monkeypatch):
    monkeypatch.setattr(terminal, "here", lambda: Keys("2"))
    assert path(folder, may_ask=False) == (Route("first"), "")
    found, shown = path(folder)
    assert found == Route("core") and shown
    assert path(folder) == (Route("core"), "")


def test_where_no_key_can_be_read_or_nothing_is_to_be_chosen_nobody_is_asked(folder, monkeypatch):
    monkeypatch.setattr(terminal, "here", lambda: None)
    assert path(folder) == (Route("first"), "")
    monkeypatch.setattr(terminal, "here", lambda: Keys("2"))
    (folder / "e01_tensors" / "steps" / "steps.toml").unlink()
    assert path(folder) == (Route("first"), "")


def test_who_leaves_at_the_question_is_asked_again(folder, monkeypatch):
    class Interrupted(Keys):
        def read(self, seconds):
            raise KeyboardInterrupt

    for keys in (Keys("q"), Interrupted()):
        monkeypatch.setattr(terminal, "here", lambda keys=keys: keys)
        assert path(folder)[0] is None
        assert progress.chosen(read(folder)) is None


def test_what_is_asked_first_stands_on_the_screen(folder):
    loop = StepLoop(folder, Route("first"))
    assert "· half · Double a tensor." in loop.shown()
    assert "open e01_tensors/steps/half.py, write, save" in loop.shown()
    assert "def double(x):" in loop.shown() and "raise NotImplementedError" in loop.shown()
    assert "e01_tensors 0/1 ░░░░░░░░░░   steps" in loop.shown(), "an optional one is not counted"


def test_n_goes_from_the_steps_to_the_exercises_and_leaves_optional_ones_out(folder):
    loop = StepLoop(folder, Route("first"))
    loop.save_as("half", PASSED)
    assert (
        "✓ half" in loop.shown() and "1/1 ██████████   steps" in loop.shown() and "read  " not in loop.shown()
    )
    loop.press("l")
    assert "> ✓ s01  half" in loop.shown() and "· s02  third" in loop.shown() and "(optional)" in loop.shown()
    assert "· ex01 double" in loop.shown() and "1/1 steps, 0/2 exercises, 1 optional" in loop.shown()
    loop.press("n")
    loop.answer(PASSED)
    assert (
        loop.watcher.walk.focus.slug == "double" and "0/2" in loop.shown() and "░   steps" not in loop.shown()
    )


def test_optional_steps_that_are_passed_over_are_said(folder):
    loop = StepLoop(folder, Route("first"))
    loop.save_as("half", PASSED)
    loop.press("n")
    loop.answer(PASSED)
    assert "passed over, as optional: third; l has it" in loop.shown()
    assert "0/2 ░░░░░░░░░░   exercises" in loop.shown()
    loop.press("n")
    assert "passed over" not in loop.shown()
    loop = StepLoop(folder, Route("core"))
    loop.press("n")
    assert loop.watcher.walk.focus.slug == "twice" and "passed over" not in loop.shown()


def test_the_first_exercise_is_told_to_be_one(folder):
    loop = StepLoop(folder, Route("first"))
    for slug in ("half", "third"):
        loop.save_as(slug, PASSED)
    loop.press("n")
    assert "your first exercise: once its job works, n goes on" in loop.shown()
    loop.answer(PASSED)
    loop.save_as("double", PASSED)
    loop.press("n")
    assert loop.watcher.walk.focus.slug == "twice" and "first exercise" not in loop.shown()


def test_at_the_end_of_a_section_there_is_something_to_see(folder, monkeypatch):
    monkeypatch.setattr(seen, "drawn", lambda section: f"a picture of {section.name}")
    monkeypatch.setattr(seen, "file", lambda section: folder / "see.py")
    loop = StepLoop(folder, Route("first"))
    for slug in ("half", "double"):
        loop.save_as(slug, PASSED)
        assert "been through" not in loop.shown(), "twice is left"
    loop.save_as("twice", PASSED)
    assert "you have been through e01_tensors; w shows what your answers make" in loop.shown()
    loop.press("w")
    assert "a picture of e01_tensors" in loop.shown()


def test_a_picture_that_cannot_be_drawn_leaves_the_verdict_there(folder, monkeypatch):
    def refused(section):
        raise KataError("no picture of e01_tensors")

    monkeypatch.setattr(seen, "drawn", refused)
    loop = StepLoop(folder, Route("first"))
    loop.save_as("half", FAILED)
    loop.press("w")
    assert "no picture of e01_tensors" in loop.shown() and "drawing" not in loop.shown()
    assert "✗ half" in loop.shown()


def test_who_knows_pytorch_sees_no_steps(folder):
    loop = StepLoop(folder, Route("core"))
    assert loop.watcher.walk.focus.slug == "double" and "e01_tensors 0/2 ░░░░░░░░░░\n" in loop.shown()
    assert "step" not in loop.shown()


def test_an_optional_step_is_judged_as_any(folder):
    loop = StepLoop(folder, Route("first"))
    loop.save_as("third", PASSED)
    assert "✓ third" in loop.shown() and loop.watcher.walk.states["third"] == "done"
    loop.press("n")
    assert loop.watcher.walk.focus.slug == "double", "the one after it"


def test_what_fails_names_the_step_before_it_and_b_and_n_lead_there_and_back(folder):
    loop = StepLoop(folder, Route("core"))
    loop.save_as("double", FAILED)
    assert "  the step before this: e01/half   press b\n  hint: kata hint double" in loop.shown()
    loop.save_as("twice", FAILED)
    assert "step before" not in loop.shown()
    loop.press("b")
    assert "no step that twice builds on is left to do" in loop.shown()
    loop.save_as("double", FAILED)
    loop.press("b")
    assert loop.watcher.walk.focus.slug == "half"
    loop.answer(PASSED)
    loop.save_as("half", PASSED)
    assert "next       e01_tensors/double.py   press n" in loop.shown()
    loop.press("n")
    assert loop.watcher.walk.focus.slug == "double"
    loop.answer(FAILED)
    assert "the step before this: e01/third" in loop.shown(), "an optional one, where no other is left"


def test_whoever_does_the_job_knows_its_steps(folder):
    loop = StepLoop(folder, Route("first"))
    loop.save_as("double", PASSED)
    assert loop.watcher.walk.states == {"half": "known", "third": "known", "double": "done", "twice": "todo"}
    loop.press("l")
    assert "○ s01  half" in loop.shown()
    loop.save_as("half", FAILED)
    assert loop.watcher.walk.states["half"] == "failing"
    loop.save_as("double", FAILED)
    assert loop.watcher.walk.states["third"] == "todo"


LONG = '''"""Say a thing.

{job}

    f(1)   # 2
{fine}"""

import torch


def f(x):
    """{doc}"""
    raise NotImplementedError
'''


def laid(source, rows=18):
    out = Console(file=io.StringIO(), width=80, height=24, color_system=None)
    room = Room(out, out.options)
    parts = statement.laid(Statement.of(source), room, rows)
    for part in parts:
        out.print(part)
    return out.file.getvalue()


def test_a_statement_that_fits_is_there_as_a_whole_and_flows():
    shown = laid(
        LONG.format(job="A word\nof `it`.\n\n- One\n  rule.", fine="\nFine print:\n- Half.\n", doc="d")
    )
    assert "A word of `it`." in shown and "- One rule." in shown and "- Half." in shown
    assert "    f(1)   # 2" in shown and "raise NotImplementedError" in shown and "import torch" not in shown


def test_where_room_is_short_empty_lines_go_first():
    fine = "\nFine print:\n" + "".join(f"- Line {i}.\n" for i in range(9))
    source = LONG.format(job="A word.", fine=fine, doc="d")
    high, low = laid(source, rows=30), laid(source, rows=16)
    assert len(high.splitlines()) > 16 >= len(low.splitlines())
    assert "Line 8." in low and "raise NotImplementedError" in low
    assert laid(source, rows=9) == high, "which is scrolled"


@pytest.mark.parametrize("source", ["", "def f(:", '"""Only words."""', "x = 1", "\x00"])
def test_any_file_is_shown_in_some_way(source):
    laid(source)


@pytest.mark.parametrize(("width", "height", "nth"), [(80, 24, 4), (80, 16, 9), (100, 40, 9)])
def test_whatever_the_course_asks_fits_into_the_window(width, height, nth):
    course = load()
    for exercise in course.exercises[::nth]:
        out = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
        Window(out, course, Route("first"), "").draw(screen.asked(exercise), exercise, {})
        rows = out.file.getvalue().split("\x1b[2J\x1b[H")[-1].splitlines()
        assert len(rows) < height and max(map(cell_len, rows)) <= width, exercise.slug
        assert any(paths.shown(exercise.file("exercises")) in row for row in rows), exercise.slug
        assert any(footer.KEYS in row for row in rows), exercise.slug
