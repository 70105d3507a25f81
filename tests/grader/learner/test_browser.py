"""The browser that looks at pages, and what it finds wrong with them."""

import pytest

from tests.grader.support.browser import faint, sideways, tabbed, unlabelled, watched

SOUND = """<!doctype html><html lang="en"><title>t</title><body style="background:#fff;color:#111">
<a href="#main">Skip</a><main id="main"><h1>One</h1><h2>Two</h2>
<table><caption>c</caption><tr><th scope="col">a</th></tr></table></main></body></html>"""


def test_a_sound_page_is_sound(page):
    page.set_content(SOUND)
    assert (faint(page), unlabelled(page), sideways(page), tabbed(page)) == ([], [], 0, ["Skip"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<h2>", "<h3>", "level 3 after 1"),
        (' scope="col"', "", "no scope"),
        ("<caption>c</caption>", "", "no caption"),
        ("#main", "#nowhere", "goes nowhere"),
        ("<main ", '<svg></svg><main id="x">m</main><main ', "2 main landmarks"),
        ("<h2>Two", '<svg width="9"></svg><h2>Two', "no label"),
    ],
)
def test_what_a_screen_reader_stumbles_over_is_found(page, old, new, words):
    page.set_content(SOUND.replace(old, new))
    assert words in "\n".join(unlabelled(page))


def test_faint_text_is_found(page):
    page.set_content(SOUND.replace("#111", "#888"))
    assert any(line.startswith("3.54 TH") for line in faint(page))
    page.set_content(SOUND.replace("#111", "#111; opacity: 1").replace("#fff", "#fff8"))
    assert faint(page) == []


def test_scrolling_sideways_is_measured(page):
    page.set_content(SOUND.replace("<h2>Two", '<div style="width:1400px">x</div><h2>Two'))
    assert sideways(page) > 100


@pytest.mark.parametrize("script", ["console.error('no')", "throw 'no'", "alert('no')"])
def test_errors_on_a_page_are_seen(browser, script):
    with watched(browser, strict=False) as (page, seen):
        page.set_content(f"<script>{script}</script>")
    assert any("no" in line for line in seen.errors)
    with pytest.raises(AssertionError), watched(browser) as (page, _):
        page.set_content(f"<script>{script}</script>")


def test_no_request_leaves_this_machine(browser):
    with watched(browser, strict=False) as (page, seen):
        page.set_content('<img src="https://example.invalid/a.png">')
    assert seen.elsewhere == ["https://example.invalid/a.png"]
