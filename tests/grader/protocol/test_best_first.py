"""What is told first of all that failed: the same in every face, and what names the mistake."""

from types import SimpleNamespace

import pytest

from grader.classroom.report.student import page
from grader.course.catalog import load
from grader.learner.jupyter import Verdict
from grader.learner.outcome import learn
from grader.learner.watch import screen
from grader.plugin import failures
from grader.plugin.reports import CheckReport
from grader.protocol.best_first import best_first
from grader.protocol.check import CheckSpec, Finding
from grader.protocol.feedback import Feedback, Where
from grader.protocol.transcript import Ended, Transcript
from grader.records.comments import comment
from grader.records.records import CheckRecord, ExerciseRecord, StudentRecord

EXERCISE = load().exercise("merge_heads")
LINE = Where("exercises/e01_tensors/merge_heads.py", 7, "return y")
BARE = Feedback("wrong values from f(x)", kind="values")
TOLD = {
    "rule": Feedback("f(x) uses torch.softmax", kind="rule"),
    "slip": Feedback("your code raised NameError: no y", where=LINE, kind="slip"),
    "cause": Feedback("wrong values from f(y)", likely="the mask is inverted", kind="values"),
    "error": Feedback("your code raised RuntimeError: shapes", where=LINE, kind="error"),
    "pattern": Feedback(
        "wrong values from f(z)", likely="every value is 0.99 × the wanted one", kind="pattern"
    ),
    "bare": BARE,
    "words": Feedback("f(x) copies"),
}


def order(*names, fine=()):
    failed = best_first([(name, TOLD[name]) for name in names], lambda each: (each[0] in fine, each[1]))
    return [name for (name, _), _ in failed]


@pytest.mark.parametrize(
    "first, later",
    [("rule", "slip"), ("slip", "cause"), ("cause", "error"), ("error", "pattern"), ("pattern", "bare")],
)
def test_what_names_the_mistake_comes_first(first, later):
    assert order(later, first) == order(first, later) == [first, later]
    assert order(first, later, fine=[first]) == [later, first]  # the job comes before all


def test_what_says_as_much_as_another_stays_behind_it():
    assert order("bare", "words") == ["bare", "words"]
    assert order("words", "bare") == ["words", "bare"]


@pytest.mark.parametrize(
    "fits, later, lent",
    [
        (["the mask is inverted"], "the mask is inverted", "the mask is inverted"),
        (
            ["a", "3 × the wanted one, and 3 is a count"],
            "8 × the wanted one, and 8 is a count",
            "3 × the wanted one, and 3 is a count",
        ),
        (["shifted by one"], "the mask is inverted", None),
        ([], "the mask is inverted", None),
    ],
)
def test_the_first_that_a_cause_fits_is_lent_it_in_its_own_numbers(fits, later, lent):
    example = Feedback("wrong values from f([1, 2])", kind="values", fits=tuple(fits))
    cause = Feedback("wrong values from f(x)", likely=later, kind="values")
    other = Feedback("wrong shape from f(y)", kind="values", fits=tuple(fits))
    told = best_first([BARE, example, cause, other], lambda each: (False, each))
    first, told_first = told[0]
    assert (first, told_first.likely) == ((example, lent) if lent else (cause, later))
    assert [each for each, _ in told[1:]] == [
        each for each in (cause, BARE, example, other) if each is not first
    ]


def test_of_several_that_fit_the_first_is_told_which_others_bear_out():
    example = Feedback("wrong values from f([1, 2])", likely="a", kind="values", suspects=("b", "c"))

    def first(*others):
        told = [Feedback("wrong values from f(x)", likely=cause, kind="values") for cause in others]
        return best_first([example, *told], lambda each: (False, each))[0][1].likely

    assert (first("b"), first("c", "b"), first("d"), first()) == ("b", "b", "a", "a")
    assert first("a", "b") == "a"  # two mistakes


def test_a_suspect_that_fits_every_check_is_told():
    def first(*suspects):
        told = [Feedback(f"wrong f({n})", kind="values", suspects=some) for n, some in enumerate(suspects)]
        return best_first(told, lambda each: (False, each))[0][1].likely

    assert first(("a", "b"), ("b",)) == first(("b",), (), ("b",)) == "b"
    assert first(("a",), ("b",)) == first(("a",)) == first((), ("a",), ("a",)) == ""


def test_the_fine_print_lends_nothing_to_the_job():
    example = Feedback("wrong values", kind="values", fits=("the mask is inverted",))
    told = best_first([(False, example), (True, TOLD["cause"])], lambda each: each)
    assert [feedback for _, feedback in told] == [example, TOLD["cause"]]


def test_every_face_tells_the_same_first():
    """What is in the report of a check alone is moved, and lent, by nobody else."""
    titles = {"Example.": BARE, "Values.": TOLD["pattern"], "Name.": TOLD["slip"], "Own.": TOLD["rule"]}
    specs = [CheckSpec(f"hidden::{title}", title) for title in titles]
    findings = {spec.id: Finding("failed", titles[spec.title]) for spec in specs}
    lesson = learn(EXERCISE, specs, Transcript(findings, last_word="done", ended=Ended()))
    assert [failure.title for failure in lesson.failures] == ["Own.", "Name.", "Values.", "Example."]

    checks = tuple(CheckRecord(s.id, s.title, "failed", "", 0.0, titles[s.title]) for s in specs)
    record = ExerciseRecord("failed", 0.0, 2.0, checks)
    student = page(StudentRecord("ada", 0, {EXERCISE.slug: record}), load())
    shown = [check.title for section in student.sections for e in section.exercises for check in e.checks]
    reports = [
        SimpleNamespace(
            check=CheckReport(EXERCISE.slug, title, False, Finding("failed", told)),
            longrepr=title,
        )
        for title, told in titles.items()
    ]
    options = SimpleNamespace(tbstyle="auto", verbose=0)
    reporter = SimpleNamespace(
        stats={"failed": reports}, reportchars="", config=SimpleNamespace(option=options)
    )
    assert failures.shorten(reporter, [], {}) == reports
    first = f"{EXERCISE.slug} · Own."
    assert repr(Verdict(lesson)).startswith(f"✗ {first}")
    assert str(screen._told(lesson, "")[0][0]) == f"✗ {first}"
    assert comment(record).splitlines()[2].strip() == "Own."
    assert shown == [failure.title for failure in lesson.failures]
    assert [report.check.title for report in reporter.stats["failed"]] == shown
