"""The pictures of the chapters are what docs/draw.py makes of PyTorch's own numbers."""

import importlib.util
import re
from xml.etree import ElementTree

import pytest

from grader.course import paths
from grader.course.catalog import load
from grader.course.chapter import text_of
from grader.course.statement import Statement
from grader.learner.watch import cells
from grader.publish.book import pages

SCRIPT = paths.ROOT / "docs" / "draw.py"
SPEC = importlib.util.spec_from_file_location("draw", SCRIPT)
assert SPEC and SPEC.loader
draw = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(draw)


@pytest.mark.parametrize("picture", draw.PICTURES, ids=lambda made: made.__name__)
def test_a_picture_is_up_to_date_and_sound(picture):
    file = draw.HERE / f"{picture.__name__}.svg"
    made = picture().svg()
    assert file.read_text("utf-8") == made, "draw it anew: python docs/draw.py"
    assert ElementTree.fromstring(made).get("aria-label")


def test_every_picture_stands_in_a_chapter_with_words_for_who_cannot_see_it():
    shown = [
        found.groups()
        for section in load().sections
        for found in re.finditer(
            r"!\[([^\]]+)\]\(\.\./\.\./docs/pictures/(\w+)\.svg\)", text_of(section.name)
        )
    ]
    assert {name for _, name in shown} == {made.__name__ for made in draw.PICTURES}
    assert all(len(words.split()) > 4 for words, _ in shown)


def test_most_statements_have_a_picture_and_most_hints():
    said = [Statement.of(exercise.text(exercise.content("exercises"))) for exercise in load().exercises]
    assert sum(bool(pages.picture(each)) for each in said) >= 0.75 * len(said)
    assert sum(cells.of_example(each) is not None for each in said) >= 0.65 * len(said)
