"""docs/authors.md: whoever follows it word for word has an exercise that the audit finds nothing in."""

import pytest

from tests.grader.support.guide import PAGE, blocks, files, follow, section, shown

pytestmark = pytest.mark.slow

BROUGHT = section("A capstone out of your own repository")
"""Which leads from another beginning."""
MOST_LINES = 225
"""Of an exercise's five files, as the page promises."""

BLOCKS = blocks(PAGE.replace(BROUGHT, ""))
FILES = files(BLOCKS)
SHOWN = shown(BLOCKS)


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    return follow(BLOCKS, tmp_path_factory.mktemp("guide") / "clone")


@pytest.fixture(scope="module")
def brought(tmp_path_factory):
    pytest.importorskip("unidiff", reason="unidiff is an optional extra: torchkata[class]")
    return follow(blocks(BROUGHT), tmp_path_factory.mktemp("brought") / "clone")


def test_it_ends_without_problems(followed):
    assert followed.printed.count("audit: 1 exercises, no problems\n") == 2, "in the clone, and in a course"
    assert "no wrong specimens fail as another does" in followed.printed


def test_what_is_shown_is_what_is_printed(followed):
    assert len(SHOWN) == 2
    assert [line for line in SHOWN if line not in followed.printed.splitlines()] == []


def test_every_file_of_the_page_was_begun_by_kata_new(followed):
    assert followed.made == set(FILES)


def test_an_exercise_takes_no_more_lines_than_is_said():
    five = {name: text for name, text in FILES.items() if name.endswith((".py", ".txt"))}
    assert len(five) == 5
    assert sum(text.count("\n") for text in five.values()) <= MOST_LINES


def test_a_repository_becomes_a_capstone(brought):
    assert "audit: 1 exercises, no problems\n" in brought.printed
    lines = shown(blocks(BROUGHT))
    assert [line for line in lines if line not in brought.printed.splitlines()] == []
    assert len(lines) == 5
    theirs = {name for name in files(blocks(BROUGHT)) if name.startswith("../rings/")}
    assert brought.made == {*files(blocks(BROUGHT))} - theirs
