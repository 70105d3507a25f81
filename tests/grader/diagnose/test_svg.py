"""The map in feedback, as a picture."""

import re

from grader.diagnose.svg import label, squares


def test_wrong_values_are_told_by_colour_by_shape_and_in_words():
    drawn = squares(["××·×", "····"])
    assert len(re.findall("<rect", drawn)) == 8
    assert len(re.findall("<path", drawn)) == 3
    assert (
        'aria-label="map of right and wrong values, 2 rows: row 1 wrong at 1 to 2, 4 of 4; row 2 right"'
        in (drawn)
    )
    assert label(["·×"]) == "map of right and wrong values, 1 row: row 1 wrong at 2 of 2"
