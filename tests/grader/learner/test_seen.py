"""`kata see`: every section's picture comes of its solutions, and none of answers that do not work."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import FOLDERS
from grader.learner import plot, seen
from grader.records import progress, route


@pytest.fixture
def solved(monkeypatch):
    """The solutions are the learner's answers, and all work."""
    monkeypatch.setitem(FOLDERS, "exercises", FOLDERS["solutions"])
    done = dict.fromkeys((e.slug for e in load().exercises), "works")
    monkeypatch.setattr(progress, "states", lambda *_: done)
    return done


def shown(name):
    out = Console(file=io.StringIO(), width=80)
    seen.show(out, name)
    return out.file.getvalue()


@pytest.fixture
def drawing(solved, monkeypatch):
    """Where a picture is drawn: its file lies beside the starts."""
    files = {s.name: s.name for s in load().sections}
    home = paths.ROOT / "exercises"
    monkeypatch.setattr(seen, "file", lambda section: home / files[section.name] / seen.FILE)


SAID = {
    "e01": "█",
    "e02": "y = 2.",
    "e03": "dark is outside",
    "e04": "four epochs",
    "e05": "loss",
    "e06": "sum",
    "e07": "8, 8, 7, 7 rows",
    "e08": "times as fast",
    "e09": "14.weight",
    "e10": "and a text is a row of letters. a ten",
    "e11": "your SwiGLU",
}


WITH_STEPS = [s for s in load().sections if any(e.is_step for e in s.exercises)]


@pytest.mark.parametrize("section", WITH_STEPS, ids=lambda s: s.name)
def test_a_section_with_steps_ends_with_something_to_see(section, drawing):
    told = shown(section.name)
    assert SAID[section.name[:3]] in " ".join(told.split()) and max(map(len, told.splitlines())) <= 80


def test_its_picture_is_made_by_what_the_path_of_a_beginner_holds():
    read = {e.slug for e in route.like_a_book(load()) if not e.optional}
    for section in load().sections:
        assert set(seen.made_by(section)) <= read


def test_what_does_not_work_yet_is_named(drawing, solved):
    solved["fit_a_line"] = "known"
    with pytest.raises(KataError, match="fit_a_line does not work yet: `kata watch fit_a_line` leads there"):
        shown("e02")
    with pytest.raises(KataError, match="'e99' is no section"):
        shown("e99")


def test_what_an_answer_raises_is_told_in_a_line(drawing, monkeypatch):
    monkeypatch.setattr("grader.plugin.load_answer.load", lambda *_: SimpleNamespace())
    with pytest.raises(KataError, match=r"no picture came of your answers: .* 'fit_a_line'"):
        shown("e02")


def test_marks_lie_where_the_numbers_are():
    rows = plot.chart((".", [0, 10], [0, 5]), ("o", [5], [5]), across="x", up="y").splitlines()
    assert rows[0] == "5 │" + " " * 30 + "o" + " " * 28 + "." and rows[plot.HEIGHT - 1] == "0 │."
    assert rows[-1].split() == ["0", "x", "10"]
    assert plot.bars({"a": 2, "bc": 0.001}) == "a  " + "█" * 30 + " 2\nbc █ 0.001"
    assert plot.shades([[0, 1], [1, 0.5]]) == "  ██\n██▒▒" and plot.shades([[3, 3]]) == "    "
