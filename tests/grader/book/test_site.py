"""The book in a browser, opened from its folder: all there is to read, a search, and no answers."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest

from grader.core.errors import KataError
from grader.course.catalog import load
from grader.publish.book import site
from grader.publish.book.pages import pages, place_of
from tests.grader.support.browser import faint, sideways

CATALOG = load()


def test_every_statement_has_a_page_and_no_page_an_answer():
    texts = {page.place: page.text for page in pages(CATALOG)}
    assert {place_of(e) for e in CATALOG.exercises} | {
        "index",
        "calls",
        "concepts",
        "messages",
        "efforts",
    } <= set(texts)
    for exercise in CATALOG.exercises:
        assert all(f"Hint {n}" in texts[place_of(exercise)] for n in range(1, len(exercise.hints) + 1))
        if exercise.is_step:  # whose line is given: "New here: …"
            continue
        start = exercise.file("exercises").read_text()
        solved = [
            line for line in exercise.file("solutions").read_text().splitlines() if len(line.strip()) > 30
        ]
        own = {line.strip() for line in solved} - {line.strip() for line in start.splitlines()}
        shown = texts[place_of(exercise)]
        assert len([line for line in own if line in shown]) <= 1, exercise.slug  # a call that a rule names


def test_another_folder_is_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(KataError, match="holds something else"):
        site.build(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("site") / "book"
    assert site.build(target) == len(CATALOG.exercises) + len(CATALOG.sections) + 5
    return target


@pytest.mark.slow
def test_pages_read_well_on_a_desk_and_a_phone_in_light_and_dark(book, visit):
    for place in ("index", "e01_tensors/index", "e01_tensors/merge_heads", "messages", "calls"):
        for settings in ({"color_scheme": "light"}, {"color_scheme": "dark", "width": 360}):
            page = visit((book / f"{place}.html").as_uri(), **settings)
            assert sideways(page) == 0, (place, settings)
            assert [told for told in faint(page) if not re.search(r"\.(n|k|s|c|m|o|g)\w?\w? ", told)] == [], (
                place
            )


@pytest.mark.slow
def test_the_search_works_from_a_folder(book, visit):
    page = visit(f"{(book / 'search.html').as_uri()}?q={quote('gather')}")
    # Results come one by one: wait for the one that is wanted, not for the first.
    page.locator("ul.search li a", has_text="One number per row").first.wait_for()


@pytest.mark.slow
def test_a_chapter_leads_to_a_statement_whose_hints_are_folded(book, visit):
    page = visit((book / "e01_tensors" / "index.html").as_uri())
    page.locator("article table a", has_text="gather_token_logprobs").first.click()
    assert "gather_token_logprobs.html" in page.url
    hint = page.locator("details.hint").first
    assert not hint.evaluate("e => e.open")
    hint.locator("summary").click()
    assert hint.evaluate("e => e.open")


@pytest.mark.slow
def test_printed_there_is_only_the_text(book, visit):
    page = visit((book / "e01_tensors" / "merge_heads.html").as_uri())
    page.emulate_media(media="print")
    assert page.locator("article h1").is_visible()
    assert (
        not page.locator(".sidebar-drawer").is_visible()
        and not page.locator("details.hint").first.is_visible()
    )
