"""The class's pages in a real browser: what a person sees, reaches by keyboard, hears and prints."""

from dataclasses import replace

import pytest

from grader.classroom import report
from grader.classroom.report import render
from grader.core.atomic_write import write
from grader.course.catalog import load
from grader.records.records import StudentRecord
from tests.grader.classroom.report.test_report import (
    CATALOG,
    CLASS,
    FAULT,
    HALF,
    HOSTILE,
    NO_GPU,
    PASSED,
    TAMPERED,
    changed,
)
from tests.grader.classroom.similar.test_similar import disguised, handed_in, shown, written
from tests.grader.support.browser import faint, sideways, tabbed, unlabelled

PAGES = (
    "index.html",
    "changes.html",
    "students/bob.html",
    "students/ada.html",
    "similar.html",
    "bugs/index.html",
    "bugs/students/bob.html",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A report with ordinary students, and one with hostile ones."""
    folder = tmp_path_factory.mktemp("report")
    report.write(CLASS, CATALOG, folder, log=[changed("bob", "first", "suite")])
    odd = {"first": HALF, "second": TAMPERED, HOSTILE: PASSED, "third": FAULT}
    records = [*CLASS, StudentRecord(HOSTILE, 7, odd, (HOSTILE,))]
    odd_log = [changed(HOSTILE, HOSTILE, "suite"), changed("bob", "first", HOSTILE)]
    report.write(records, CATALOG, folder / "hostile", log=odd_log)
    bugs = {"mask_peeks": False, "split_overlaps": True}
    records = [StudentRecord(who, 7, {"broken_gpt": replace(HALF, bugs=bugs)}) for who in ("bob", "eve")]
    report.write(records, load(), folder / "bugs")
    programs = written(4)
    programs["a copy"] = [disguised(code) for code in programs["s01"]]
    write(folder / "similar.html", render("similar.html", page=shown(handed_in(programs))))
    programs = {
        HOSTILE + name: [f"{code}text = {HOSTILE!r}\n" for code in programs[name]] for name in programs
    }
    write(folder / "hostile" / "similar.html", render("similar.html", page=shown(handed_in(programs))))
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_readable(visit, folder, name, scheme):
    page = visit((folder / name).as_uri(), color_scheme=scheme)
    assert faint(page) == []
    assert unlabelled(page) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(244, 246, 248)") == (scheme == "light")


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_does_not_scroll_sideways(visit, folder, name):
    for file in filter(lambda file: file.is_file(), (folder / name, folder / "hostile" / name)):
        page = visit(file.as_uri(), width=360, height=740)
        assert sideways(page) == 0


def test_hostile_work_is_only_text(visit, folder):
    page = visit((folder / "hostile" / "index.html").as_uri())
    assert "alert(1)" in page.inner_text("main")
    assert page.evaluate("document.scripts.length + document.images.length") == 0
    assert page.evaluate("[...document.querySelectorAll('svg')].length") == 0
    link = page.locator(".review h3 a", has_text="alert(1)").first
    link.click()
    page.wait_for_url("**/students/*.html")
    assert "alert(1)" in page.title()
    assert page.evaluate("[...document.querySelectorAll('svg')].every(s => s.closest('dd'))")


def test_hostile_code_is_only_text(visit, folder):
    page = visit((folder / "hostile" / "similar.html").as_uri())
    assert "alert(1)" in page.inner_text("figure pre")
    assert page.evaluate("document.scripts.length + document.images.length") == 0


def test_codes_stand_side_by_side_where_there_is_room(visit, folder):
    places = []
    for width in (1280, 360):
        page = visit((folder / "similar.html").as_uri(), width=width)
        left, right = (page.locator("figure").nth(i).bounding_box() for i in range(2))
        places.append(left["y"] == right["y"])
    assert places == [True, False]


def test_the_keyboard_reaches_everything_in_order(visit, folder):
    page = visit((folder / "index.html").as_uri())
    reached = tabbed(page)
    assert reached[:4] == ["Skip to the main part", "For review", "Totals", "Heat map"]
    assert {"ada", "bob", "first"} <= set(reached)
    every = "[...document.querySelectorAll('a[href], summary, [tabindex=\"0\"]')]"
    assert len(reached) == page.evaluate(f"{every}.filter(e => e.checkVisibility()).length")
    page.evaluate("document.querySelector('.skip').focus()")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_review_leads_to_a_students_exercise(visit, folder):
    page = visit((folder / "index.html").as_uri())
    names = page.locator(".review h3").all_inner_texts()
    assert names == ["bob", "dov", "ada", "cyd"]
    page.locator(".review", has_text="replaces allclose").get_by_role("link", name="second").click()
    page.wait_for_url("**/students/bob.html#second")
    assert page.get_by_text("replaces allclose").is_visible()


def test_many_for_review_stay_readable(visit, tmp_path):
    """Sixty of four hundred, one line or two each; what a tenth share is folded."""
    records = [StudentRecord(f"s{i:03}", 7, {"first": PASSED, "second": PASSED}) for i in range(400)]
    for i in range(60):
        records[i] = StudentRecord(f"s{i:03}", 7, {"first": FAULT if i % 2 else TAMPERED, "second": PASSED})
    for i in range(100, 145):
        records[i] = StudentRecord(f"s{i:03}", 7, {"first": PASSED, "third": NO_GPU})
    report.write(records, CATALOG, tmp_path)
    page = visit((tmp_path / "index.html").as_uri())
    assert page.locator(".review").count() == 60
    assert page.locator("#review").bounding_box()["height"] < 60 * 50
    last = page.locator("#review a", has_text="s144")
    assert not last.is_visible()
    page.get_by_text("45 students").click()
    assert last.is_visible()


def test_folded_parts_open_by_keyboard(visit, folder):
    page = visit((folder / "students" / "bob.html").as_uri())
    hint = page.get_by_text("Look at the dims.").first
    assert not hint.is_visible()
    page.get_by_text("Hint 1 of 2").first.focus()
    page.keyboard.press("Enter")
    assert hint.is_visible()


def test_a_printed_page_holds_what_is_folded(visit, folder):
    page = visit((folder / "students" / "bob.html").as_uri(), color_scheme="dark")
    page.emulate_media(media="print")
    assert page.get_by_text("Look at the dims.").first.is_visible()
    assert not page.locator(".skip").is_visible()
    assert faint(page) == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_the_picture_shows_which_values_are_wrong(visit, folder):
    page = visit((folder / "students" / "bob.html").as_uri())
    picture = page.get_by_role("img", name="row 1 wrong at 1 to 2 of 4")
    assert picture.count() == 1
    assert picture.locator("rect").count() == 8
    assert picture.locator("path").count() == 3
    assert picture.bounding_box()["width"] == 44
