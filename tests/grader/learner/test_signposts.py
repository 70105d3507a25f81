"""`kata list`, `kata find`, the list that can be walked, and where `kata watch` begins."""

import io

import pytest
from rich.console import Console

from grader.core.errors import KataError
from grader.course.catalog import load
from grader.learner import listing
from grader.learner.watch import keyboard
from grader.learner.watch.walk import Walk
from grader.records import placement, progress
from grader.records.route import Route
from tests.grader.learner.test_first_steps import StepLoop, folder  # noqa: F401
from tests.grader.learner.test_watch_loop import FAILED, PASSED


@pytest.fixture(autouse=True)
def nothing_done(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "_FILE", tmp_path / "progress.json")


def printed(show, *asked, width=80):
    out = Console(file=io.StringIO(), width=width, soft_wrap=True)
    show(out, *asked)
    return out.file.getvalue()


def test_a_list_has_all_sections_one_or_a_topic():
    everything, section = printed(listing.show), printed(listing.show, "e05")
    assert all(e.slug in everything for e in load().exercises)
    assert "five_lines" in section and "merge_heads" not in section and "min" in section
    topic = printed(listing.show, "clip")
    assert "clip_then_step" in topic and "clip_by_global_norm" in topic and "evaluate" not in topic
    with pytest.raises(KataError, match="kata find zebra"):
        printed(listing.show, "zebra")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_titles_wrap_and_no_line_is_longer_than_88_columns(width):
    lines = printed(listing.show, "e07", width=width).splitlines()
    assert max(map(len, lines)) <= min(width, 88)
    text = " ".join(" ".join(lines).split())
    assert width < 80 or all(
        word in text for e in load().exercises if e.section[:3] == "e07" for word in [e.slug]
    )


def test_calls_concepts_and_messages_are_found():
    found = printed(listing.find, "gather")
    assert "x.gather(1, n[:, None])" in found and "gather_token_logprobs" in found
    message = printed(listing.find, "RuntimeError: mat1 and mat2 shapes cannot be multiplied (7x9 and 3x1)")
    assert "in_features" in message and "mat1_and_mat2" in message
    with pytest.raises(KataError, match="nothing here is about 'zebra'"):
        printed(listing.find, "zebra")


def test_keys_have_names():
    assert list(keyboard.keys_in("aZ\x1b[A\x1bOB\x1b[1;2C\r\x1b[3~\x1b[D")) == [
        *["a", "z", "up", "down", "enter", "left"]
    ]


def test_the_list_is_walked_and_chosen_from(folder):  # noqa: F811
    loop = StepLoop(folder, Route("core"))
    slugs = [e.slug for e in loop.watcher.catalog.exercises]
    focus = loop.watcher.walk.focus.slug
    loop.press("l")
    assert "[enter] open" in loop.shown() and f"· {focus}" not in loop.shown()
    for _ in slugs:
        loop.press("up")
    loop.press("down")
    loop.press("enter")
    assert loop.watcher.walk.focus.slug == slugs[1] and "[h]int" in loop.shown()
    loop.press("l")
    loop.press("l")
    assert "[h]int" in loop.shown() and loop.watcher.browser is None


def test_a_verdict_leaves_the_list_on_the_screen(folder):  # noqa: F811
    loop = StepLoop(folder, Route("core"))
    loop.save_as("double", FAILED)
    loop.press("l")
    loop.watcher.runs.begin(loop.watcher.catalog.exercise("double"))
    loop.answer(PASSED)
    assert "✓" in loop.shown() and "[enter] open" in loop.shown()


def test_previous_goes_back_on_the_path(folder):  # noqa: F811
    loop = StepLoop(folder, Route("core"))
    order = loop.watcher.walk.path.stretch(loop.watcher.catalog)
    loop.press("p")
    assert "nothing comes before" in loop.shown()
    loop.watcher.walk.focus = order[1]
    loop.press("p")
    assert loop.watcher.walk.focus == order[0]


def test_a_restart_goes_on_where_one_was(folder):  # noqa: F811
    loop = StepLoop(folder, Route("core"))
    first, second = loop.watcher.walk.path.stretch(loop.watcher.catalog)[:2]
    progress.stay(second)
    assert Walk(loop.watcher.catalog, Route("core"), fine=False).focus == second
    progress.remember({second: "done"})
    assert Walk(loop.watcher.catalog, Route("core"), fine=False).focus == first
    assert Walk(loop.watcher.catalog, Route("core"), fine=False, at=second).focus == second


def test_a_todo_says_what_comes_before_it(folder):  # noqa: F811
    loop = StepLoop(folder, Route("core"))
    assert "before it: half, third" in loop.shown()


def test_two_exercises_take_a_sections_steps():
    catalog = load()
    for section in catalog.sections:
        offered = placement.offered(catalog, section)
        assert len(offered) == 2 and all(e.section == section.name and not e.is_step for e in offered)
    section = catalog.sections[1]
    offered = placement.offered(catalog, section)
    placement.offer(section, offered)
    steps = [e.slug for e in section.exercises if e.is_step]
    one = progress.states(catalog, {offered[0].slug: "works"})
    assert any(one[slug] == "todo" for slug in steps)
    both = progress.states(catalog, {e.slug: "works" for e in offered})
    assert all(both[slug] == "known" for slug in steps)


def test_who_tests_out_goes_through_these_two_alone():
    catalog = load()
    offered = placement.offered(catalog, catalog.sections[1])
    path = Route("section", "e02_autograd", tuple(e.slug for e in offered))
    assert path.stretch(catalog) == offered and offered[0].slug in str(path)
    progress.choose(path)
    assert progress.chosen(catalog) == Route("section", "e02_autograd")
