"""The pictures of worked examples, as cells."""

import re

from grader.course import example
from grader.course.statement import Statement
from grader.publish.book.cells import picture

MERGE = """
    x = torch.arange(8).view(1, 2, 2, 2)   # head 0: [[0, 1], [2, 3]]
    merge_heads(x)                         # [[[0, 1, 4, 5], [2, 3, 6, 7]]]
"""


def shown(job: str) -> str:
    call = example.call_of(Statement("", job, None, ""))
    assert call is not None
    return picture(call)


def cells(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<span class="(tone\d?)">([^<]+)</span>', html)


def test_a_number_keeps_the_colour_of_the_row_that_it_came_from() -> None:
    drawn = cells(shown(MERGE))
    before, after = drawn[:8], drawn[8:]
    assert [number for _, number in after] == list("01452367")
    assert set(before) == set(after) and len({tone for tone, _ in before}) == 4


def test_arguments_and_results_are_drawn_with_their_names_and_shapes() -> None:
    html = shown(
        "    x = torch.tensor([[5, 6], [7, 8]])\n    pick(x, torch.tensor([1, 0]))   # tensor([6, 7])"
    )
    assert "x (2, 2)" in html and "<small>(2,)</small>" in html
    assert len(cells(html)) == 8


def test_where_nothing_is_given_the_call_stands_for_it() -> None:
    html = shown("    count_up(6, 2)   # tensor([0, 2, 4])")
    assert "<code>count_up(6, 2)</code><b>→</b>" in html and len(cells(html)) == 3
