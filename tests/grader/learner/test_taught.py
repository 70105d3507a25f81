"""What is taught after green, the chapter at a call, and links."""

import io

import pytest
from rich.console import Console

from grader.core.errors import KataError
from grader.course import chapter
from grader.course.catalog import load
from grader.course.exercise import FOLDERS
from grader.learner import reading
from grader.learner.outcome import Lesson
from grader.learner.watch import links, screen, taught
from tests.grader.learner.test_screen import drawn, sizes
from tests.grader.learner.test_watch_loop import PASSED, loop  # noqa: F401

CHAPTER = """# Doubling

{much}

| Call | What comes back | Where |
|---|---|---|
| `x.mul(2)` | `(3,)`: twice as much | `double` |
"""


@sizes
def test_after_green_the_solution_stands_beside_yours_with_the_chapters_row_and_why(size):
    exercise = load().find("merge_heads")
    found = Lesson(exercise, "done", ("It works.",), (), (), "", "")
    _, shown = drawn(screen.lesson(found, None), exercise, size)
    assert "yours" in shown.text and "as the solution" in shown.text and "transpose(2," in shown.text
    assert size[1] < 20 or (
        "down the columns" in shown.text and "transpose brings time before heads" in shown.text
    )


def test_each_exercise_has_a_sentence_why_and_a_row_of_its_chapter():
    lacking = [e.slug for e in load().exercises if not e.why.endswith((".", ":")) or taught.row_of(e) is None]
    assert not lacking
    assert all(len(exercise.why) <= 160 for exercise in load().exercises), (
        "one sentence, two lines at 80 columns"
    )


def test_where_there_is_no_solution_the_row_is_told_alone(tmp_path, monkeypatch):
    monkeypatch.setitem(FOLDERS, "solutions", tmp_path)
    exercise = load().find("merge_heads")
    assert taught.beside(exercise) is None and taught.row_of(exercise) is not None


def test_c_opens_the_chapter_at_the_call_and_v_leads_back(loop, monkeypatch):  # noqa: F811
    monkeypatch.setattr(chapter, "text_of", lambda section: CHAPTER.format(much="word\n\n" * 60))
    loop.save(1)
    loop.answer(PASSED)
    assert "x.mul(2)   (3,): twice as much" in loop.shown()
    loop.press("c")
    assert "x.mul(2)" in loop.shown() and "lines above" in loop.shown() and "✓ double" not in loop.shown()
    loop.press("v")
    assert "✓ double" in loop.shown()


def test_without_a_chapter_c_says_so(loop, monkeypatch):  # noqa: F811
    monkeypatch.setattr(chapter, "text_of", lambda section: "")
    loop.press("c")
    assert "e01_tensors has no chapter" in loop.shown()


def read(name, width=80):
    out = Console(file=io.StringIO(), width=width)
    reading.show(out, name)
    return out.file.getvalue()


def test_a_chapter_is_read_from_its_beginning_or_at_a_call():
    whole = read("e01")
    assert whole.lstrip().startswith("The tensor")
    for name in ("gather", "one_per_row"):
        assert read(name).lstrip().startswith("x.gather(1, n[:, None])") and len(read(name)) < len(whole)
    with pytest.raises(KataError, match="kata find zebra"):
        read("zebra")


@pytest.mark.parametrize("width", [50, 80])
def test_a_chapter_shows_each_call_and_where_in_full_and_opens_at_it(width):
    for section in load().sections:
        whole = "".join(read(section.name[:3], width).split())
        for row in chapter.calls(chapter.text_of(section.name)):
            assert "".join(row.name.split()) in whole and all(slug in whole for slug in row.slugs)
    for name in ("repeatable_dice", "shares_of_a_row"):
        begun = "".join(read(name, width).split())
        assert begun.startswith(("torch.rand(2,3,generator=torch.Generator()", "x/x.sum(dim=1,keepdim=True)"))


def test_code_of_a_chapter_breaks_no_matrix_and_its_remarks_go_below():
    shown = read("e01", 50)
    assert "[[3., 1., 2.], [0., 5., 4.]])\n" in shown and "# from lists: 2 rows of 3 columns\n" in shown


def test_links_are_the_terminals_own(monkeypatch):
    monkeypatch.delenv("TERM_PROGRAM", raising=False)
    exercise = load().find("merge_heads")
    file, solution = (exercise.file(tree).resolve().as_uri() for tree in ("exercises", "solutions"))

    def written(is_open):
        out = Console(file=io.StringIO(), force_terminal=True, width=100)
        out.print(links.of(exercise, is_open=is_open))
        return out.file.getvalue()

    assert f";{file}\x1b\\" in written(False) and exercise.reading in written(False)
    assert solution not in written(False) and f";{solution}\x1b\\" in written(True)
    monkeypatch.setenv("TERM_PROGRAM", "vscode")
    assert ";vscode://file/" in written(False)


def test_o_shows_them_below(loop):  # noqa: F811
    loop.press("o")
    assert "file      " in loop.shown() and "page      https" in loop.shown() and "· double" in loop.shown()
