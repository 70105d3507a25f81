"""What pytest tells of the checks that failed: each mistake once, by the first check that sees it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

import pytest

from grader.course.exercise import Exercise
from grader.plugin.reports import CheckReport, attach, check_of
from grader.protocol.best_first import best_first, same_but_sizes
from grader.protocol.feedback import Feedback

MOST_TITLES = 10


def shorten(
    reporter: pytest.TerminalReporter, does_job: Collection[str], before: Mapping[str, Exercise]
) -> list[pytest.TestReport]:
    """Say less, where a learner's exercises failed: each mistake once, and no list of failed checks.

    Where several exercises failed, only the first failure of each is told: an untouched clone would else be
    a wall of text, and the section at the end names the exercises, and alone those of `does_job`, of which no
    more than fine print fails. `-v` or `--tb` asks for everything. The first failure of each also names the
    step of `before`, by slug, that the exercise builds on.

    Returns:
        All that failed, which are to be counted again once the failures are told.
    """
    everything = reporter.stats.get("failed", [])
    failed = [report for report in everything if (check := check_of(report)) and check.failed]
    if failed and len(failed) == len(everything):
        reporter.reportchars = ""
        option = reporter.config.option
        if option.tbstyle == "auto" and option.verbose <= 0:
            of = _best_first(failed)
            for slug in [slug for slug in of if len(of) > 1 and slug in does_job]:
                del of[slug]
            for slug in of.keys() & before.keys():
                first = of[slug][0]
                first.longrepr = _check(first).text(before[slug])
            reporter.stats["failed"] = _of_one(*of.values()) if len(of) == 1 else _first_of_each(of)
    return everything


def _check(report: pytest.TestReport) -> CheckReport:
    check = check_of(report)
    assert check is not None
    return check


def _best_first(failed: Iterable[pytest.TestReport]) -> dict[str, list[pytest.TestReport]]:
    """The failures of each exercise, by slug, in the order in which they are told."""
    of: defaultdict[str, list[pytest.TestReport]] = defaultdict(list)
    for report in failed:
        of[_check(report).slug].append(report)
    return {slug: [_telling(*each) for each in best_first(some, _seen)] for slug, some in of.items()}


def _seen(report: pytest.TestReport) -> tuple[bool, Feedback]:
    check = _check(report)
    return check.fine, check.feedback


def _telling(report: pytest.TestReport, feedback: Feedback | None) -> pytest.TestReport:
    """The report with this feedback, which may have been lent a cause."""
    check = _check(report)
    if feedback and feedback != check.feedback:
        lent = check.with_feedback(feedback)
        attach(report, lent)
        report.longrepr = lent.text()
    return report


def _first_of_each(of: dict[str, list[pytest.TestReport]]) -> list[pytest.TestReport]:
    """The first failure of each exercise, with how many more it has."""
    for slug, (first, *others) in of.items():
        if others:
            fail = "check fails" if len(others) == 1 else "checks fail"
            first.longrepr = f"{first.longrepr}\n  {len(others)} more {fail}: pytest -k {slug}"
    return [reports[0] for reports in of.values()]


def _of_one(failed: Sequence[pytest.TestReport]) -> list[pytest.TestReport]:
    """The mistakes in one exercise: while its job fails, the fine print is told by title."""
    job = [report for report in failed if not _check(report).fine]
    if not job or len(job) == len(failed):
        return _by_mistake(failed)
    told = _by_mistake(job)
    titles = list(dict.fromkeys(_check(report).title for report in failed if _check(report).fine))
    told[-1].longrepr = "\n".join([str(told[-1].longrepr), "  and of the fine print:", *_listed(titles)])
    return told


def _by_mistake(failed: Iterable[pytest.TestReport]) -> list[pytest.TestReport]:
    """The first failure by each mistake, with the titles of the other checks that fail by it."""
    of: dict[tuple[str, ...], list[pytest.TestReport]] = {}
    for report in failed:
        of.setdefault(_mistake(_check(report).feedback), []).append(report)
    for first, *others in of.values():
        if others:
            titles = list(dict.fromkeys(_check(report).title for report in (first, *others)))[1:]
            first.longrepr = "\n".join([str(first.longrepr), *_also(len(others), titles)])
    return [reports[0] for reports in of.values()]


def _also(count: int, titles: Sequence[str]) -> list[str]:
    checks = "check" if count == 1 else "checks"
    return [f"  the same in {count} more {checks}{':' if titles else ''}", *_listed(titles)]


def _listed(titles: Sequence[str]) -> list[str]:
    more = [f"    and {len(titles) - MOST_TITLES} more"] if len(titles) > MOST_TITLES else []
    return [*(f"    {title}" for title in titles[:MOST_TITLES]), *more]


def _mistake(feedback: Feedback) -> tuple[str, ...]:
    """What is wrong, where and by which likely cause; sizes and values differ with each check's inputs."""
    place = feedback.where.lines[:1] if feedback.where and feedback.where.line else []
    return (*map(same_but_sizes, (feedback.headline, feedback.likely)), *place)
