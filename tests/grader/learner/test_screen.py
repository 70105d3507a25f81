"""What stands on the screen of `kata watch`, by a terminal in memory, in three sizes."""

import re

import pytest

from grader.course.arrays import Array
from grader.course.catalog import load
from grader.course.statement import Statement
from grader.learner import commands
from grader.learner.outcome import Failure, Lesson
from grader.learner.watch import cells, folded, screen
from grader.learner.watch.folding import diff
from grader.learner.watch.window import Window
from grader.protocol.feedback import Fact, Feedback, Listed, Where
from grader.records.route import Route
from tests.grader.learner.test_watch_loop import FAILED, Loop, loop  # noqa: F401
from tests.grader.support.emulated import SIZES, Emulated

sizes = pytest.mark.parametrize("size", SIZES, ids=str)


def listed(facts, **tensors):
    return Listed(tuple((name, Array.of(nested)) for name, nested in tensors.items()), facts)


WRONG = Feedback(
    "wrong values from channels_first(image)",
    (
        Fact("values", "4 of 6 are wrong in int64[3, 1, 2]"),
        Fact("yours", "[[[1, 2]], [[3, 4]], [[5, 6]]]"),
        Fact("wanted", "[[[1, 4]], [[2, 5]], [[3, 6]]]"),
    ),
    listed=listed(
        ("yours", "wanted"), yours=[[[1, 2]], [[3, 4]], [[5, 6]]], wanted=[[[1, 4]], [[2, 5]], [[3, 6]]]
    ),
    likely="the shape is right and the colours are mixed up: view and reshape move no number",
    where=Where("exercises/e01_tensors/steps/channels_first.py"),
)


def drawn(body, exercise, size, note=None):
    """A window that shows this, and its screen."""
    shown = Emulated(*size)
    window = Window(shown.console, load(), Route("first"), "")
    window.note = note
    window.draw(body, exercise, {})
    return window, shown


def scrolled(window, shown, exercise):
    """All rows that can be scrolled to, page by page."""
    seen = [*shown.rows]
    while True:
        top = window.scroll.top
        window.scroll.press("pagedown")
        if window.scroll.top == top:
            return seen
        window.draw(window.body, exercise, {})
        seen += shown.rows


def failing(feedback=WRONG, slug="channels_first"):
    exercise = load().find(slug)
    title = "The worked example of the statement comes out."
    return Lesson(exercise, "failing", (), (Failure(title, feedback),), (), "", "")


@sizes
def test_every_line_of_a_statement_can_be_scrolled_to(size):
    for exercise in load().exercises[::19]:
        window, shown = drawn(screen.asked(exercise), exercise, size)
        seen = "".join("".join(scrolled(window, shown, exercise)).split())
        said = Statement.of(exercise.file("exercises").read_text("utf-8"))
        for line in (*said.job.splitlines(), *(said.fine or "").splitlines(), *said.code.splitlines()):
            for word in line.split():
                assert word.rstrip(",)") in seen, (exercise.slug, line)


@sizes
def test_no_row_is_torn_and_the_footer_has_two_lines(size):
    for exercise in load().exercises[::19]:
        _, shown = drawn(screen.asked(exercise), exercise, size)
        *body, place, keys, cursor = [row for row in shown.rows if row] + [shown.rows[-1]]
        assert cursor == "" and max(map(len, shown.rows)) <= size[0]
        assert exercise.slug in place and "[n]ext" in keys and "[?]keys [q]uit" in keys, shown.text
        assert exercise.slug in body[0]


@sizes
def test_keys_scroll_and_stop_at_both_ends(size):
    exercise = load().find("multi_head_attention")
    window, shown = drawn(screen.asked(exercise), exercise, size)
    first = shown.rows
    assert any("lines more: ↓ j PgDn" in row for row in first)
    window.scroll.press("down")
    window.draw(window.body, exercise, {})
    assert shown.rows[2] == first[3], "by one line"
    assert "2 lines above: ↑ k PgUp" in shown.rows[0]
    for key, end in (("end", "raise NotImplementedError"), ("home", first[0])):
        window.scroll.press(key)
        window.draw(window.body, exercise, {})
        assert end in shown.text, key
    assert shown.rows == first
    window.scroll.press("k")
    assert window.scroll.top == 0


def test_what_fits_is_not_scrolled():
    exercise = load().find("first_tensor")
    window, shown = drawn(screen.asked(exercise), exercise, (120, 35))
    assert not window.scroll.press("down") and "more" not in shown.text


@sizes
def test_yours_and_wanted_are_on_the_first_page_cell_by_cell(size):
    found = failing()
    _, shown = drawn(screen.lesson(found, None), found.exercise, size)
    beside = next(row for row in shown.rows if "yours (3, 1, 2)" in row)
    assert "wanted (3, 1, 2)" in beside and " [[ 3  4 ]]        [[ 2  5 ]]" in shown.text
    assert "[[[1, 2]]" not in shown.text, "once"


SMALL = {
    "permute": ([[[1, 2]], [[3, 4]]], [[[1, 3]], [[2, 4]]], {"x": [[[1, 2], [3, 4]]]}),
    "reshape": ([[1, 2], [3, 4], [5, 6]], [[1, 4], [2, 5], [3, 6]], {"x": [[1, 2, 3], [4, 5, 6]]}),
    "cat": ([1, 2, 3, 4], [[1, 2], [3, 4]], {"a": [1, 2], "b": [3, 4]}),
}


def small(yours, wanted, given):
    facts = (Fact("yours", "int64[4]"), Fact("values", f"yours {yours}, wanted {wanted}"), Fact("given", "…"))
    told = listed(("values", "given"), yours=yours, wanted=wanted, **given)
    return failing(Feedback("wrong shape from f(x)", facts, listed=told))


def colours(shown):
    """The colour behind each number on the screen, in their order from left to right and row by row."""
    assert shown.text
    seen = {}
    for row in range(shown.screen.lines):
        for column in range(shown.screen.columns):
            letter = shown.screen.buffer[row][column]
            if letter.data.isdigit() and letter.bg != "default":
                seen.setdefault(letter.data, set()).add(letter.bg)
    return seen


@sizes
@pytest.mark.parametrize("name", SMALL)
def test_a_number_that_moved_has_the_colour_of_its_place(name, size):
    found = small(*SMALL[name])
    _, shown = drawn(screen.lesson(found, None), found.exercise, size)
    by_number = colours(shown)
    assert all(len(some) == 1 for some in by_number.values()), by_number
    assert len({next(iter(some)) for some in by_number.values()}) == len(by_number) >= 4


def test_what_was_made_is_right_or_wrong():
    told = Feedback("wrong", listed=listed((), yours=[[1, 7], [8, 4]], wanted=[[1, 2], [3, 4]]))
    found = failing(told)
    _, shown = drawn(screen.lesson(found, None), found.exercise, (80, 24))
    assert colours(shown)["7"] == {"red"} == colours(shown)["8"] and colours(shown)["4"] == {"green"}


def test_of_a_wrong_shape_the_values_and_both_shapes_are_there():
    found = small([[3, 4, 5]], [3, 4, 5], {"sold": [[1, 2, 3], [5, 6, 7]]})
    _, shown = drawn(screen.lesson(found, None), found.exercise, (80, 24))
    assert "yours (1, 3)   wanted (3,)" in re.sub(r" {3,}", "   ", shown.text)
    assert "[[ 3  4  5 ]]" in shown.text and " [ 3  4  5 ]" in shown.text and "sold (2, 3)" in shown.text


def test_brackets_stand_as_lists_have_them():
    shown = Emulated(80, 24)
    shown.console.print(cells.Cells((("x", Array.of([[[1, 2], [3, 4]]])), ("y", Array.of([[1], [2], [3]])))))
    assert [row for row in shown.rows if row] == [
        "x (1, 2, 2)    y (3, 1)",
        "[[[ 1  2 ]     [[ 1 ]",
        "  [ 3  4 ]]]    [ 2 ]",
        "                [ 3 ]]",
    ]


def test_without_small_tensors_there_are_no_cells():
    assert cells.of_failure(Feedback("wrong", (Fact("yours", "[1]"), Fact("wanted", "[1, 2]")))) is None


def test_an_example_is_drawn_from_its_statement():
    said = Statement(
        "", "    x = torch.tensor([1, 2, 3, 4])\n    f(x)   # tensor([[1, 2], [3, 4]])", None, ""
    )
    drawn_ = cells.of_example(said)
    tensors = (("x", Array.of([1, 2, 3, 4])), ("gives", Array.of([[1, 2], [3, 4]])))
    assert drawn_ is not None and drawn_.tensors == tensors


@sizes
def test_a_note_that_is_high_scrolls_with_the_rest(size):
    exercise = load().find("first_tensor")
    window, shown = drawn(screen.asked(exercise), exercise, size, "\n".join(f"note {i}" for i in range(60)))
    seen = "\n".join(scrolled(window, shown, exercise))
    assert "note 0\n" in seen and "note 59" in seen and "raise NotImplementedError" in seen


def test_statement_and_verdict_are_one_key_apart_and_question_mark_tells_the_keys(loop):  # noqa: F811
    loop.save(1)
    loop.answer(FAILED)
    assert "✗ double" in loop.shown()
    loop.press("v")
    assert "· double" in loop.shown() and "✗" not in loop.shown()
    loop.press("v")
    assert "✗ double" in loop.shown()
    loop.press("?")
    assert "put the start back" in loop.shown() and "✗ double" not in loop.shown()
    loop.press("v")
    assert "✗ double" in loop.shown()


def test_keys_of_the_loop_scroll_what_is_shown(loop):  # noqa: F811
    low = Loop(loop.folder, height=14)
    low.press("?")
    assert "the next one" in low.shown() and "put the start back" not in low.shown()
    low.press("end")
    assert "put the start back" in low.shown() and "the next one" not in low.shown()


def test_lines_break_after_commas_and_never_inside_strings_or_rows():
    code = 'f(torch.tensor([[1, 2, 3], [4, 5, 6]]), "a, b, c, d, e, f, g, h, i")   # [[1, 2], [3, 4]], a word'
    lines = folded.code(code, 40).split("\n")
    assert lines == [
        "f(torch.tensor([[1, 2, 3], [4, 5, 6]]),",
        '  "a, b, c, d, e, f, g, h, i")',
        "# [[1, 2], [3, 4]], a word",
    ]
    signature = 'def f(a: Float[Tensor, "n m"], b: Int[Tensor, " m"]) -> Float[Tensor, " n"]:'
    assert folded.code(signature, 50).split("\n") == [
        "def f(",
        '    a: Float[Tensor, "n m"], b: Int[Tensor, " m"]',
        ') -> Float[Tensor, " n"]:',
    ]


def test_a_path_that_is_too_long_breaks_behind_a_slash_alone():
    place = "  exercises/e02_autograd/steps/first_gradient.py:19   (x**2).backward()"
    assert folded.words(place, 50) == [
        "  exercises/e02_autograd/steps/",
        "  first_gradient.py:19   (x**2).backward()",
    ]
    assert folded.words("x/2 is half of a number", 20) == ["x/2 is half of a", "number"]


@pytest.mark.parametrize("width", [46, 50, 80])
def test_nothing_of_any_example_is_lost_or_torn(width):
    for exercise in load().exercises:
        said = Statement.of(exercise.file("exercises").read_text("utf-8"))
        example = "\n".join(line for line in said.job.splitlines() if line.startswith("    "))
        for code in (example, said.code):
            kept = folded.code(code, width)
            assert re.sub(r"[\s#,]", "", kept) == re.sub(r"[\s#,]", "", code), exercise.slug
            for line in kept.split("\n"):
                is_code = not line.lstrip().startswith("#") and "'" not in line and '"""' not in code
                assert not is_code or line.count('"') % 2 == 0, (exercise.slug, line)


@sizes
def test_the_solution_is_compared_in_code_alone(size):
    exercise = load().find("merge_heads")
    yours, reference = exercise.content("exercises"), exercise.content("solutions")
    told = commands.compared(exercise, yours, reference)
    assert '"""' not in told and "After attention" not in told
    window, shown = drawn(diff(told), exercise, size)
    seen = "\n".join(scrolled(window, shown, exercise))
    assert "-    return x.transpose(2, 3)" in seen and "+    side_by_side" in seen


def test_a_hint_comes_with_a_picture_of_the_example(loop):  # noqa: F811
    said = (
        '"""Double.\n\nA word.\n\n    x = torch.tensor([1, 2])\n    double(x)\n    # tensor([[2, 4]])\n"""\n'
    )
    loop.file(1).write_text(said)
    loop.watcher._hint()
    assert "x (2,)     gives (1, 2)" in loop.shown() and "[ 1  2 ]" in loop.shown()
    loop.file(1).write_text("# nothing is said")
    loop.watcher._hint()
    assert "gives" not in loop.shown()
