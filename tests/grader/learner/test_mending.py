"""What `kata watch` tells below the verdict on a capstone, and what the page at the end holds."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from grader.core.errors import KataError
from grader.course import variant
from grader.learner import debrief, mending
from grader.learner.mending import Mending, minutes
from grader.learner.outcome import Failure, Lesson
from grader.learner.watch import screen
from grader.protocol.feedback import Feedback
from grader.records import capstones, progress_file
from tests.grader.support.capstone import NAMES, SLUG, exercise

MINUTE = 60.0


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    at = [1000.0]
    monkeypatch.setattr(capstones, "now", lambda: at[0])

    def goes_on(minutes):
        at[0] += minutes * MINUTE

    return goes_on


@pytest.fixture
def capstone(tmp_path, monkeypatch):
    monkeypatch.setattr(progress_file, "FILE", tmp_path / "progress.json")
    monkeypatch.setattr(debrief, "FOLDER", tmp_path / "capstones")
    made = exercise(tmp_path / "aside")
    monkeypatch.setattr(debrief, "load", lambda: Named(made))
    return made


class Named:
    """A catalog of one."""

    def __init__(self, found):
        self.find = lambda name: found


def title(name):
    return f"The sum of {name} is too small."


def judged(capstone, *wrong, state=""):
    """The lesson where these sums are wrong, noted as `kata watch` does."""
    failures = tuple(Failure(title(name), Feedback("wrong"), check=f"test_{name}") for name in wrong)
    state = state or ("failing" if wrong else "done")
    held = tuple(f"test_{name}" for name in NAMES if name not in wrong)
    lesson = Lesson(capstone, state, held, failures, (), "", "", held=held)
    capstones.saw(capstone, [f.check for f in failures], held, is_solved=state == "done")
    return lesson


def drawn(lesson, has_keys=True, width=50):
    out = Console(file=io.StringIO(), width=width)
    out.print(screen.lesson(lesson, None, mending.of(lesson), has_keys=has_keys))
    rows = out.file.getvalue().splitlines()
    assert max(map(len, rows)) <= width
    return [row.strip() for row in rows]


def printed(told):
    out = Console(file=io.StringIO(), width=80)
    out.print(told)
    return [row.rstrip() for row in out.file.getvalue().splitlines()]


def test_bugs_are_counted_and_symptoms_left_are_told_once(capstone):
    first, second, *_ = variant.chosen(capstone, 0)
    rows = drawn(judged(capstone, first, second))
    assert rows[rows.index("3 of 5 mended; left:") + 1 :] == [f"✗ {title(first)}", f"✗ {title(second)}"]
    assert not any("more:" in row for row in rows), "it is listed already"
    assert not any("right before" in row or "min" in row for row in rows)


def test_what_broke_is_told_apart_whether_a_bug_or_not(capstone):
    first, second, *rest = variant.chosen(capstone, 0)
    other = next(name for name in NAMES if name not in variant.chosen(capstone, 0))
    judged(capstone, first, *rest)
    told = mending.of(judged(capstone, first, second, other, *rest))
    assert told == Mending(5, 0, (title(first), *map(title, rest)), (title(second), title(other)), False)
    rows = drawn(judged(capstone, second, other))
    start = rows.index("4 of 5 mended")
    told = ["right before, and wrong now:", f"✗ {title(second)}", f"✗ {title(other)}"]
    assert rows[start + 1 :] == told, "no symptom is left but one that came back"


def test_what_failed_from_the_beginning_is_no_bug_and_broke_nothing(capstone):
    first, *_ = variant.chosen(capstone, 0)
    other = next(name for name in NAMES if name not in variant.chosen(capstone, 0))
    rows = drawn(judged(capstone, first, other))
    assert rows[-4:] == [f"✗ {title(first)}", "", "and 1 more:", f"✗ {title(other)}"]


def test_at_the_end_the_way_to_the_page_is_told(capstone):
    rows = drawn(judged(capstone))
    assert "5 of 5 mended" in rows and "w shows what was wrong, and how one finds it" in rows
    assert f"`kata capstone {SLUG} --page` shows what was" in drawn(judged(capstone), has_keys=False)


def test_a_check_that_does_not_run_here_is_no_mended_bug(capstone):
    first, *_ = variant.chosen(capstone, 0)
    lesson = judged(capstone)
    lesson = replace(lesson, held=tuple(check for check in lesson.held if check != f"test_{first}"))
    told = mending.of(lesson)
    assert told.words == "4 of 5 mended, 1 not judged here" and told.is_done


def test_nothing_is_said_of_what_is_not_known(capstone, tmp_path):
    lesson = judged(capstone)
    assert mending.of(replace(lesson, trouble="still running")) is None
    assert (
        mending.of(replace(lesson, exercise=replace(capstone, pool=replace(capstone.pool, hints=())))) is None
    )
    variant.bugs.cache_clear()
    capstone.file("specimens").unlink()
    assert mending.of(lesson) is None, "as in a release"


def test_a_timer_tells_how_long_each_took_and_stands_still_at_the_end(capstone, clock):
    first, second, *rest = variant.chosen(capstone, 0)
    assert capstones.time_from_now(capstone) and not capstones.time_from_now(capstone)
    clock(12)
    assert "1 of 5 mended, 12 min; left:" in drawn(judged(capstone, first, *rest))
    clock(5)
    judged(capstone, first, second, *rest)  # it broke once more: the first time counts
    clock(50)
    judged(capstone)
    clock(30)
    lesson = judged(capstone)
    assert "5 of 5 mended, 1 h 7 min" in drawn(lesson)
    rows = printed(debrief.shown(SLUG))
    times = [row.split(maxsplit=1)[1] for row in rows if row.startswith("  time")]
    assert times == ["12 min, mended after 12 min", *["55 min, mended after 1 h 7 min"] * 4]
    assert rows[rows.index("1. subtracts") + 1] == f"  symptom what {second} says", (
        "the first that was mended"
    )


def test_a_timer_that_begins_late_knows_nothing_of_what_was_before(capstone, clock):
    _, *rest = variant.chosen(capstone, 0)
    judged(capstone, *rest)
    capstones.time_from_now(capstone)
    clock(3)
    judged(capstone)
    assert "5 of 5 mended, 3 min" in drawn(judged(capstone))
    assert sum(row.startswith("  time") for row in printed(debrief.shown(SLUG))) == 4


def test_a_variant_laid_out_again_is_timed_anew_and_another_is_not(capstone, clock):
    capstones.time_from_now(capstone)
    judged(capstone)
    clock(9)
    capstones.lay(capstone)
    assert capstones.of(SLUG).seconds == 0.0 and not capstones.of(SLUG).held
    capstones.lay(variant.of(capstone, 3, capstone.content("exercises")))
    assert capstones.of(SLUG).seconds is None and capstones.of(SLUG).done == (0,)


def test_without_a_timer_no_time_is_kept(capstone, clock):
    _, *rest = variant.chosen(capstone, 0)
    judged(capstone, *rest)
    clock(9)
    assert "5 of 5 mended" in drawn(judged(capstone))
    kept = json.loads(progress_file.FILE.read_text())["capstones"][SLUG]
    assert kept["begun"] is None and {*kept["held"].values()} == {None}
    assert not any(row.startswith("  time") for row in printed(debrief.shown(SLUG)))


def test_what_an_earlier_version_kept_is_read(capstone):
    before = {"seed": 4, "start": "abc", "done": [0], "failed": ["test_ada"]}
    progress_file.FILE.write_text(json.dumps({"capstones": {SLUG: before}}))
    assert capstones.of(SLUG) == capstones.Laid(4, "abc", (0,), ("test_ada",))
    for damage in ({"held": 3}, {"held": {"test_ada": "x"}}, {"begun": []}):
        progress_file.FILE.write_text(json.dumps({"capstones": {SLUG: {**before, **damage}}}))
        assert capstones.of(SLUG) == capstones.Laid(), damage


def test_what_was_wrong_is_shown_when_it_is_done_and_not_before(capstone):
    first, *rest = variant.chosen(capstone, 0)
    judged(capstone, *rest)
    with pytest.raises(KataError, match=f"is shown once variant 0 of {SLUG} is done$"):
        debrief.shown(SLUG)
    judged(capstone)
    rows = printed(debrief.shown(SLUG))
    n = 100 + NAMES.index(first)
    assert rows[0] == f"{SLUG}, variant 0: 5 bugs" and rows[1].startswith("as a page:")
    start = rows.index(f"  symptom what {first} says")
    file = "early.py" if first in NAMES[:6] else "late.py"
    line = 2 + 4 * (NAMES.index(first) % 6)
    assert rows[start - 1 : start + 6] == [
        "1. subtracts",
        f"  symptom what {first} says",
        f"  look    print {first}",
        f"  place   {first}",
        f"  at      {file}, line {line}",
        f"  wrong   return x - {n}",
        f"  right   return x + {n}",
    ]
    page = (debrief.FOLDER / f"{SLUG}-0.html").read_text()
    assert page.count("<h2") == 5 and f"return x - {n}" in page and "default-src 'none'" in page
    capstones.lay(variant.of(capstone, 1, capstone.content("exercises")))
    with pytest.raises(KataError, match=r"once variant 1 of .* is done; --seed shows one that is: 0$"):
        debrief.shown(SLUG)
    assert printed(debrief.shown(SLUG, 0))[0] == f"{SLUG}, variant 0: 5 bugs"


def test_a_line_that_is_missing_is_shown_as_nothing_and_markup_as_text(capstone):
    first, second, *_ = (100 + NAMES.index(name) for name in variant.chosen(capstone, 0))
    file = capstone.file("specimens")
    text = file.read_text().replace(f"+ x - {first}", "+ x < 3 and x[b] & y")
    file.write_text(text.replace(f"- x + {second}\n+ x - {second}", f"-     return x + {second}"))
    variant.bugs.cache_clear()
    judged(capstone)
    rows = printed(debrief.shown(SLUG))
    assert "  wrong   return x < 3 and x[b] & y" in rows
    assert rows[rows.index("  wrong   (nothing)") + 1] == f"  right   return x + {second}"
    assert "x &lt; 3 and x[b] &amp; y" in (debrief.FOLDER / f"{SLUG}-0.html").read_text()


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 min"), (89, "1 min"), (3570, "1 h 0 min"), (7500, "2 h 5 min")]
)
def test_minutes(seconds, words):
    assert minutes(seconds) == words
