"""`check` in a notebook: cells are gathered into an answer, judged, and shown with pictures."""

import linecache
import os
from types import SimpleNamespace

import pytest

import grader
from grader.core.errors import KataError
from grader.course import paths
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.learner.jupyter import NotPassed
from grader.notebooks.notebook_answer import Cell, gathered
from grader.protocol import transcript
from grader.records import progress, progress_file
from grader.records.records import ExerciseRecord

pytestmark = pytest.mark.slow

MERGE = load().exercise("merge_heads")
RIGHT = """
import torch
from torch import Tensor
from jaxtyping import Float

ORDER = (0, 2, 1, 3)


def swapped(x):
    return x.permute(ORDER)


def merge_heads(x: Float[Tensor, "batch heads time dim"]) -> Tensor:
    '''Merge.'''
    batch, heads, time, dim = x.shape
    return swapped(x).reshape(batch, time, heads * dim)
"""
WRONG = RIGHT.replace("return swapped(x)", "return x")


@pytest.fixture(autouse=True)
def states(tmp_path, monkeypatch):
    """What progress has noted, in a file of the test's own."""
    monkeypatch.setattr(progress_file, "FILE", tmp_path / "progress.json")
    return lambda: progress.states(load())


def notebook(*texts):
    """The namespace of a notebook in which these cells were run, as IPython runs them."""
    namespace = {
        "__name__": "__main__",
        "check": grader.check,
        "score": grader.score,
        "In": ["", *texts],
        "exit": object(),
    }
    for number, text in enumerate(texts):
        name = f"<ipython-input-{number}-{abs(hash(text))}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        if not text.startswith("%"):
            exec(compile(text, name, "exec"), namespace)
    return namespace


def test_a_right_function_passes():
    verdict = eval("check('merge_heads')", notebook(RIGHT))
    assert verdict.lesson.state == "done"
    assert "✓" in repr(verdict)


def test_a_wrong_one_is_told_with_a_picture():
    verdict = eval("check('merge_heads')", notebook(WRONG))
    assert verdict.lesson.state == "failing"
    assert "the numbers are still in the order of x" in repr(verdict)
    page = verdict._repr_html_()
    assert "<svg" in page and "<rect" in page
    assert "the numbers are still in the order of x" in page


def test_html_is_escaped():
    source = RIGHT.replace("swapped(x).", "(_ for _ in ()).throw(ValueError('<script>alert(1)</script>')).")
    page = eval("check('merge_heads')", notebook(source))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_last_definition_counts():
    assert eval("check('merge_heads')", notebook(WRONG, RIGHT)).lesson.state == "done"


MADE_IN_OTHER_WAYS = {
    "a lambda": "merge_heads = lambda x: x.transpose(1, 2).flatten(2)",
    "a partial": """
from functools import partial

def merge(x, start): return x.transpose(1, 2).flatten(start)

merge_heads = partial(merge, start=2)
""",
    "a class with another name": """
class Merging:
    def __call__(self, x):
        return x.transpose(1, 2).flatten(2)

merge_heads = Merging()
""",
    "in one cell with an experiment and its check": """
def merge_heads(x): return x.transpose(1, 2).flatten(2)

merge_heads(torch.ones(1, 2, 3, 4))
check('merge_heads')
""",
    "a tensor, a dataclass and an enum": """
import torch
from dataclasses import dataclass
from enum import Enum

@dataclass
class Order:
    dims: tuple = (0, 2, 1, 3)

class Start(Enum):
    WIDTH = 2

ONE: torch.Tensor = torch.ones(())

def merge_heads(x):
    if x.numel() < 0:
        exit()
    return x.permute(Order().dims).flatten(Start.WIDTH.value * int(ONE))
""",
    "another function's name": "def merge(x): return x.transpose(1, 2).flatten(2)\n\nmerge_heads = merge",
}


@pytest.mark.parametrize("way", MADE_IN_OTHER_WAYS)
def test_whatever_a_cell_defines_is_gathered(way):
    namespace = notebook(
        "%matplotlib inline\nx = 1", "import torch\nfrom grader import check", MADE_IN_OTHER_WAYS[way]
    )
    verdict = eval("check('merge_heads')", namespace)
    assert verdict.lesson.state == "done", verdict


def test_what_was_made_out_of_sight_is_told():
    namespace = notebook("x = 1")
    exec("merge_heads = lambda x: x", namespace)
    with pytest.raises(KataError, match="no cell defines merge_heads; run the cell that does"):
        eval("check('merge_heads')", namespace)


FILLED = (
    "ORDER = {}",
    "ORDER['first'] = 1",
    RIGHT.replace("x.permute(ORDER)", "x.transpose(ORDER['first'], 2)"),
)
"""A table that a later cell fills, before the function that uses it."""


def test_check_and_score_judge_the_same_answer(capsys):
    table, filled, uses = FILLED
    namespace = notebook(table, filled, uses.replace("ORDER = (0, 2, 1, 3)\n", ""))
    assert eval("check('merge_heads')", namespace).lesson.state == "done"
    assert eval("score('merge_heads')", namespace) == 2


def test_a_step_is_checked_and_scored_by_its_one_suite(capsys, monkeypatch):
    step = load().exercise("shares_of_a_row")
    right = step.file("solutions").read_text("utf-8")
    assert eval("check('shares_of_a_row')", notebook(right)).lesson.state == "done"
    verdict = eval("check('shares_of_a_row')", notebook(right.replace(", keepdim=True", "")))
    assert verdict.lesson.state == "failing" and "keepdim" in repr(verdict)
    assert eval("score('shares_of_a_row')", notebook(right)) == 0  # of no points
    assert capsys.readouterr().out == "passed\n"
    kept = Exercise.file
    monkeypatch.setattr(
        Exercise, "file", lambda e, tree: paths.ROOT / "no" if tree == "solutions" else kept(e, tree)
    )
    with pytest.raises(KataError, match="that takes the hidden suites and the solutions"):
        eval("score('shares_of_a_row')", notebook(right))


def test_a_verdict_reaches_the_map(states):
    eval("check('merge_heads')", notebook(WRONG))
    assert states()["merge_heads"] == "failing"
    eval("check('merge_heads')", notebook(RIGHT))
    assert states()["merge_heads"] == "done"


def test_a_place_is_told_as_a_cell_and_its_line():
    verdict = eval(
        "check('merge_heads')", notebook(RIGHT.replace("return swapped(x)", "return 1 / 0, swapped(x)"))
    )
    assert "cell [1], line 16   return 1 / 0" in repr(verdict)
    assert "exercises/" not in repr(verdict) + verdict._repr_html_()


def test_lines_are_known_across_cells():
    texts = [
        "import torch\n\n\ndef helper(x):\n    return x",
        "from __future__ import annotations\n\n\n"
        "def merge_heads(x):\n    return helper(x)\n\n\ncheck('merge_heads')\nfor k in ():\n    k\na = 1\n",
    ]
    answer = gathered(MERGE, [Cell(text) for text in texts])
    lines = answer.text.splitlines()
    for line, (cell, place) in answer.lines.items():
        assert lines[line - 1].removeprefix("with _demonstration(): ").strip() in (
            texts[cell].splitlines()[place - 1].strip(),
            "",
        )
    found = {lines[line - 1] for line in answer.lines}
    assert found >= {"    return x", "    return helper(x)", "with _demonstration(): a = 1", "        k"}
    assert "check(" not in answer.text


def test_each_sentence_is_shown_once_and_prints_are_cut():
    noisy = WRONG.replace("    batch, heads", "    print('<b>word\\n' * 100)\n    batch, heads")
    verdict = eval("check('merge_heads')", notebook(noisy))
    lines = repr(verdict).splitlines()
    told = [line.removeprefix("✗ ").removeprefix("✓ ") for line in lines if line != "<b>word"]
    assert len(told) == len(set(told)), "also not as both right and wrong"
    assert lines.count("<b>word") == 20
    assert "<b>word" not in verdict._repr_html_()
    assert "&lt;b&gt;word" in verdict._repr_html_()


def test_a_stub_is_still_to_do():
    verdict = eval("check('merge_heads')", notebook("def merge_heads(x):\n    raise NotImplementedError"))
    assert "still to do" in repr(verdict)
    assert "still to do" in verdict._repr_html_()


def test_what_fails_names_the_step_before_it(monkeypatch):
    step = load().exercise("shares_of_a_row")
    monkeypatch.setattr(progress, "step_before", lambda course, exercise, seen: step)
    verdict = eval("check('merge_heads')", notebook(WRONG))
    line = "  the step before this: e01/shares_of_a_row\n  hint: kata hint merge_heads"
    assert line in repr(verdict) and line in verdict._repr_html_()
    assert len(repr(verdict).partition(line)[0].splitlines()) <= 13
    assert "step before" not in repr(eval("check('merge_heads')", notebook(RIGHT)))


def test_mistakes_are_shown_without_a_traceback():
    assert KataError("no cell defines it")._render_traceback_() == ["kata: no cell defines it"]


def test_in_a_real_kernel(tmp_path):
    """Functions and helpers in cells of their own, with magics, as in Jupyter and in Colab."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    helper, function = RIGHT.split("\n\n\ndef merge_heads")
    sources = [
        "from pathlib import Path\nfrom grader import check\nfrom grader.records import progress_file\n"
        f"progress_file.FILE = Path({str(tmp_path / 'progress.json')!r})",
        f"files = !ls\n{helper}",
        f"%%time\ndef merge_heads{function}\n%time merge_heads(torch.ones(1, 2, 3, 4))\n"
        "t = %timeit -o -n1 -r1 len(files)\ndisplay(t.best)",
        "check('merge_heads')",
        f"def merge_heads{function.replace('swapped(x)', 'x')}",
        "check('merge_heads')",
        "check('merge_head')",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    folder = {"metadata": {"path": str(paths.ROOT)}}
    nbclient.NotebookClient(book, kernel_name="python3", resources=folder, allow_errors=True).execute()
    assert progress.state(MERGE) == "failing"  # what was seen last
    right, wrong = (book.cells[place].outputs[-1]["data"] for place in (3, 5))
    assert "✓" in right["text/plain"]
    assert "it does its job, " in right["text/html"]
    assert "the numbers are still in the order of x" in wrong["text/plain"]
    assert "<svg" in wrong["text/html"]
    assert "did you mean 'merge_heads'" in "".join(book.cells[6].outputs[-1]["traceback"])
    assert len(book.cells[6].outputs[-1]["traceback"]) == 1


def test_nothing_defined_is_told_in_one_line():
    with pytest.raises(KataError, match="no cell defines merge_heads"):
        eval("check('merge_heads')", notebook("x = 1"))
    with pytest.raises(KataError, match="no exercise is called"):
        eval("check('merge')", notebook(RIGHT))


@pytest.fixture
def graded(monkeypatch):
    """As in a kernel that nbgrader has started."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")


TODO = "def merge_heads(x):\n    raise NotImplementedError"
PARTIAL = RIGHT.replace("return swapped(x)", "return swapped(x.contiguous())")
"""Copies where none is needed, which only the hidden checks see."""


def test_under_nbgrader_a_check_that_does_not_pass_is_an_error(graded, capsys):
    for text, words in ((WRONG, "the numbers are still in the order of x"), (TODO, "still to do")):
        with pytest.raises(NotPassed, match=words) as told:
            eval("check('merge_heads')", notebook(text))
        assert told.value._render_traceback_() == str(told.value).splitlines()
    for text in (RIGHT, PARTIAL):
        assert eval("check('merge_heads')", notebook(text)) is None, "a value would be the points"
        assert "✓ The worked example" in capsys.readouterr().out


def test_a_score_is_that_of_the_file(capsys):
    scores = {text: eval("score('merge_heads')", notebook(text)) for text in (RIGHT, WRONG, PARTIAL, TODO)}
    assert scores[RIGHT] == 2 and scores[TODO] == 0 and scores[WRONG] < 1 < scores[PARTIAL] < 2
    assert "copy" in capsys.readouterr().out


def test_a_score_needs_an_answer_and_the_hidden_suite(monkeypatch):
    with pytest.raises(KataError, match="no cell defines merge_heads"):
        eval("score('merge_heads')", notebook("x = 1"))
    monkeypatch.setattr(Exercise, "file", lambda exercise, tree: paths.ROOT / "nowhere" / tree)
    with pytest.raises(KataError, match="cannot be graded here"):
        eval("score('merge_heads')", notebook(RIGHT))


def test_a_fault_of_the_grader_ends_the_kernel_rather_than_give_a_score(monkeypatch, capfd):
    monkeypatch.setattr(
        "grader.verdict.references.verdict", lambda *_: ExerciseRecord("grader_fault", 0, 2, flags=("gone",))
    )
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    eval("score('merge_heads')", notebook(RIGHT))
    assert ended == [1]
    assert "merge_heads was not graded: gone" in capfd.readouterr().err


def test_a_fault_of_the_grader_is_no_error_of_a_cell_under_nbgrader(monkeypatch, capfd):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    lost = SimpleNamespace(inventory={}, judge_one=lambda job: transcript.lost("gone"))
    monkeypatch.setattr("grader.learner.jupyter._pool", lambda: lost)

    def end(status):
        raise SystemExit(status)

    monkeypatch.setattr(os, "_exit", end)
    with pytest.raises(SystemExit):
        eval("check('merge_heads')", notebook(RIGHT))
    assert "merge_heads was not graded: gone" in capfd.readouterr().err
