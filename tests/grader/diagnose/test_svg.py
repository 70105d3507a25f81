"""The map in feedback, as a picture."""

import re

import pytest

from grader.diagnose.svg import label, split_map, squares

MESSAGE = """wrong values from f(x)
  values  3 of 8 are wrong in float32[2, 4]
  where   ××··   (batch=0, columns: time)
          ·×··
  likely  shifted""".splitlines()


def test_a_map_is_cut_out_of_the_feedback():
    before, rows, after = split_map(MESSAGE)
    assert rows == ["××··", "·×··"]
    assert before == [*MESSAGE[:2], "  where   (batch=0, columns: time)"]
    assert after == ["  likely  shifted"]


@pytest.mark.parametrize("line", ["  where   x float32[3]", "  where   ", "  where", "elsewhere", ""])
def test_what_is_no_map_stays(line):
    assert split_map([line, "more"]) == ([line, "more"], [], [])


def test_wrong_values_are_told_by_colour_by_shape_and_in_words():
    drawn = squares(["××·×", "····"])
    assert len(re.findall("<rect", drawn)) == 8
    assert len(re.findall("<path", drawn)) == 3
    assert (
        'aria-label="map of right and wrong values, 2 rows: row 1 wrong at 1 to 2, 4 of 4; row 2 right"'
        in (drawn)
    )
    assert label(["·×"]) == "map of right and wrong values, 1 row: row 1 wrong at 2 of 2"
