"""The book in a browser, opened from its folder: all there is to read, a search, and no answers."""

import re
from pathlib import Path

import pytest

from grader.core.errors import KataError
from grader.course import starts
from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.course.lookup import symptoms
from grader.course.lookup.finding import Lookup
from grader.publish.book import site
from grader.publish.book.pages import beside, pages, sidebar
from grader.publish.book.places import place_of
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


def test_a_file_that_somebody_has_solved_is_shown_as_it_was_handed_out(monkeypatch):
    solved, content = CATALOG.exercise("merge_heads"), Exercise.content
    monkeypatch.setattr(
        Exercise, "content", lambda e, tree: content(e, "solutions" if e.slug == solved.slug else tree)
    )
    starts.content.cache_clear()
    shown = next(page.text for page in pages(CATALOG) if page.place == place_of(solved))
    starts.content.cache_clear()
    assert "x.transpose(2, 3).view(" in shown and "x.transpose(1, 2).reshape(" not in shown


def test_the_first_page_is_a_look_up_and_each_symptom_a_page_of_its_own():
    texts = {page.place: page.text for page in pages(CATALOG)}
    assert texts["index"].index("asked") < texts["index"].index("Sections")
    for symptom in symptoms.read():
        page = texts[f"symptoms/{symptom.slug}"]
        assert f'"symptoms/{symptom.slug}.html"' in texts["index"]
        assert all(check.look.removeprefix("$ ") in page and "→" in page for check in symptom.checks)


def test_a_capstone_is_begun_by_its_own_verb_and_the_first_page_leads_to_them():
    texts = {page.place: page.text for page in pages(CATALOG)}
    (section,) = {e.section for e in CATALOG.exercises if e.is_capstone}
    assert f"({section}/index.md)" in texts["index"]
    for exercise in CATALOG.exercises:
        shown = texts[place_of(exercise)]
        assert (f"To work on it: `kata capstone {exercise.slug}`" in shown) == exercise.is_capstone
        assert (": capstone, project" in shown) == exercise.is_capstone


def test_a_sidebar_parts_steps_from_exercises():
    held = beside(sidebar(CATALOG), "e01_tensors/merge_heads")
    assert [group.title for group in held] == ["Steps", "Exercises"]
    assert "e01_tensors/merge_heads" in held[1].pages and "e01_tensors/first_tensor" in held[0].pages
    assert beside(sidebar(CATALOG), "index") == []


def test_another_folder_is_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(KataError, match="holds something else"):
        site.build(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("site") / "book"
    assert (
        site.build(target) == len(CATALOG.exercises) + len(CATALOG.sections) + len(list(symptoms.read())) + 5
    )
    return target


@pytest.mark.slow
def test_pages_read_well_on_a_desk_and_a_phone_in_light_and_dark(book, visit):
    for place in (
        *("index", "e01_tensors/index", "e01_tensors/merge_heads", "e03_modules/read_a_sequence"),
        *("messages", "calls"),
        "symptoms/cuda_out_of_memory",
    ):
        for settings in ({"color_scheme": "light"}, {"color_scheme": "dark", "width": 360}):
            page = visit((book / f"{place}.html").as_uri(), **settings)
            assert sideways(page) == 0, (place, settings)
            assert [told for told in faint(page) if not re.search(r"\.(n|k|s|c|m|o|g)\w?\w? ", told)] == [], (
                place
            )


ASKED = [
    "gather",
    "loss is NaN after 2000 steps with amp",
    "DDP hangs after the first epoch",
    "my DataLoader's num_workers make it slow, at /usr/lib/python3/x.py",
    "merging attention heads",
    'Traceback (most recent call last):\n  File "a.py", line 3\n'
    "RuntimeError: Error(s) in loading state_dict for Net:\n"
    "\tsize mismatch for fc.weight: copying a param with shape torch.Size([1000, 512]) from checkpoint",
]


@pytest.mark.slow
def test_the_look_up_finds_from_a_folder_what_kata_find_finds(book, visit):
    page, lookup = visit((book / "index.html").as_uri()), Lookup(CATALOG)
    for asked in ASKED:
        page.locator("#asked").fill(asked)
        wanted = [entry.name for entry in lookup.find(asked).entries[:12]]
        assert page.locator("#found li > :first-child").all_text_contents() == wanted
    page.locator("#asked").fill("graddient chekpoint")
    assert "gradient checkpoint" in page.locator("#nearest").inner_text()


@pytest.mark.slow
def test_the_search_of_every_page_shows_excerpts_from_a_folder(book, visit):
    page = visit((book / "e01_tensors" / "merge_heads.html").as_uri())
    page.locator(".sidebar-search").fill("keep one number of each row")
    page.locator(".sidebar-search").press("Enter")
    found = page.locator("#found li", has_text="One number per row")
    found.first.wait_for()
    assert "row" in found.locator("mark").all_inner_texts()
    found.locator("a").first.click()
    assert page.url.endswith("e01_tensors/one_per_row.html")


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
