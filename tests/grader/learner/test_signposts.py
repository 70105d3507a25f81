"""`kata list`, `kata find`, the list that can be walked, and where `kata watch` begins."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from grader.core.errors import KataError
from grader.course.catalog import load
from grader.learner import course_map, found, listing
from grader.learner.watch import keyboard
from grader.learner.watch.walk import Walk
from grader.plugin.summary import lines as summary_lines
from grader.protocol.statuses import STATUSES
from grader.records import placement, progress, progress_file
from grader.records.route import Route
from tests.grader.learner.test_first_steps import StepLoop, folder  # noqa: F401
from tests.grader.learner.test_watch_loop import FAILED, PASSED


@pytest.fixture(autouse=True)
def nothing_done(tmp_path, monkeypatch):
    monkeypatch.setattr(progress_file, "FILE", tmp_path / "progress.json")


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


def test_a_narrow_list_has_words_of_its_titles_in_one_piece():
    text = printed(listing.show, width=50)
    assert "…" not in text and "●" not in text
    for exercise in load().exercises:
        assert all(word in text for word in exercise.title.split() if len(word) < 12), exercise.slug


@pytest.mark.parametrize("width", [50, 60, 80])
def test_what_to_practise_has_names_and_minutes_in_one_piece(width):
    out = Console(file=io.StringIO(), width=width)
    out.print(found._rows(load().exercises, {}, width), width=width)
    told = out.file.getvalue()
    assert "…" not in told
    for exercise in load().exercises:
        assert any(f" {exercise.slug} " in line and exercise.effort in line for line in told.splitlines())


def test_the_map_is_whole_at_80_columns_and_counts_as_the_list_and_pytest_do():
    course, rungs = load(), ("done", "works", "done")
    seen = {e.slug: rungs[i % 3] for i, e in enumerate(course.exercises)}
    out = Console(file=io.StringIO(), width=80)
    out.print(course_map.CourseMap(course, seen))
    rows = out.file.getvalue().splitlines()
    rows = [row for row in rows if not row.startswith("    ")]  # the head, and marks that go below
    assert len(rows) == len(course.sections) and "…" not in out.file.getvalue()
    summary = summary_lines(seen)
    for section, row, line in zip(course.sections, rows, summary, strict=False):
        held = [e for e in section.exercises if not e.optional]
        steps, exercises = (sum(e.is_step == on for e in held) for on in (True, False))
        steps, exercises = f"{steps}/{steps}" if steps else "", f"{exercises}/{exercises}"
        assert section.title in row and f"{steps} " in row and f"{exercises} " in row
        told = f"{steps} steps, {exercises} exercises" if steps else f"{exercises} exercises"
        assert told in listing.head(section, seen).plain
        assert line.startswith(section.name) and f" {exercises} " in line
        assert f"steps {steps}" in line if steps else "steps" not in line


def test_a_narrow_map_has_numbers_and_all_marks():
    course = load()
    out = Console(file=io.StringIO(), width=50)
    out.print(course_map.CourseMap(course, {}))
    assert "…" not in out.file.getvalue()
    assert marks_of(out.file.getvalue()) == {
        section.name[:3]: sum(not e.is_step for e in section.exercises) for section in course.sections
    }


@pytest.mark.parametrize("width", [50, 80])
@pytest.mark.parametrize("core, further", [(21, 0), (32, 4), (20, 1)])
def test_many_marks_go_below_and_leave_names_and_titles_whole(width, core, further):
    course = load()
    place = next(i for i, s in enumerate(course.sections) if s.name.startswith("e11"))
    section = course.sections[place]
    one = next(e for e in section.exercises if not e.is_step)
    many = [
        *(replace(one, slug=f"core_{n}") for n in range(core)),
        *(replace(one, slug=f"further_{n}", path="further") for n in range(further)),
    ]
    steps = [e for e in section.exercises if e.is_step]
    long = replace(section, exercises=(*steps, *many))
    out = Console(file=io.StringIO(), width=width)
    sections = (*course.sections[:place], long, *course.sections[place + 1 :])
    out.print(course_map.CourseMap(replace(course, sections=sections), {}))
    told = out.file.getvalue()
    assert marks_of(told)[section.name[:3]] == core + further
    assert all(f"\n{s.short} " in told or width >= 80 for s in course.sections)
    assert width < 80 or all(f"{s.name} " in told and f" {s.title} " in told for s in course.sections)


def marks_of(told):
    """How many marks a map has, by section."""
    counts, number = {}, ""
    for row in told.splitlines()[1:]:
        number = row[:3].strip() or number
        counts[number] = counts.get(number, 0) + row.count(STATUSES["todo"].mark)
    return counts


def test_what_is_next_stands_below_the_map_in_80_columns(monkeypatch):
    last = "scale_by_the_training_rows"  # with its file longer than that
    seen = {e.slug: "todo" if e.slug == last else "done" for e in load().exercises}
    monkeypatch.setattr(progress, "states", lambda catalog: seen)
    below = printed(course_map.show).partition("· to do")[2].splitlines()[1:]
    assert max(map(len, below)) <= 80 and f"next: {last}" in [line.rstrip() for line in below]


def test_calls_and_messages_are_found():
    shown = printed(found.show, "gather")
    assert "x.gather(1, n[:, None])" in shown and "gather_token_logprobs" in shown
    message = printed(found.show, "RuntimeError: mat1 and mat2 shapes cannot be multiplied (7x9 and 3x1)")
    assert message.index("in_features") < message.index("look at, in order")
    with pytest.raises(KataError, match="nothing here is about 'zebra'"):
        printed(found.show, "zebra")


@pytest.mark.parametrize("width", [50, 80, 200])
def test_a_symptom_tells_what_to_look_at_in_order_and_then_what_to_practise(width):
    shown = printed(found.show, "loss is NaN after 2000 steps with amp", width=width)
    assert max(map(len, shown.splitlines())) <= min(width, 88)
    places = [
        shown.index(text) for text in (" 1 scaler", " 2 model", "symptoms like it", "steps and exercises")
    ]
    assert places == sorted(places)
    assert width < 80 or all(text in shown for text in ("scaler_order", "●○○ 10 min"))


def test_what_is_nowhere_is_told_with_the_nearest():
    assert "the nearest, by 'gradient'" in printed(found.show, "graddient")


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
    for section in (s for s in catalog.sections if any(e.is_step for e in s.exercises)):
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
    assert set(path.stretch(catalog)) == set(offered) and offered[0].slug in str(path)
    progress.choose(path)
    assert progress.chosen(catalog) == Route("section", "e02_autograd")
