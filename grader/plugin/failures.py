"""What pytest tells of the checks that failed: each mistake once, by the first check that sees it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest

from grader.plugin.failure_report import feedback_of
from grader.protocol.feedback import Feedback

MOST_TITLES = 10


def shorten(reporter: pytest.TerminalReporter) -> list[pytest.TestReport]:
    """Say less, where a learner's exercises failed: each mistake once, and no list of failed checks.

    Where several exercises failed, only the first failure of each is told: an untouched clone would else be
    a wall of text, and the section at the end names the exercises. `-v` or `--tb` asks for everything.

    Returns:
        All that failed, which are to be counted again once the failures are told.
    """
    everything = reporter.stats.get("failed", [])
    failed = [r for r in everything if getattr(r, "kata", None) == "failed"]
    if failed and len(failed) == len(everything):
        reporter.reportchars = ""
        option = reporter.config.option
        if option.tbstyle == "auto" and option.verbose <= 0:
            of = defaultdict(list)
            for report in failed:
                of[report.slug].append(report)
            reporter.stats["failed"] = _by_mistake(failed) if len(of) == 1 else _first_of_each(of)
    return everything


def _first_of_each(of: dict[str, list[pytest.TestReport]]) -> list[pytest.TestReport]:
    """The first failure of each exercise, with how many more it has."""
    for slug, (first, *others) in of.items():
        if others:
            fail = "check fails" if len(others) == 1 else "checks fail"
            first.longrepr = f"{first.longrepr}\n  {len(others)} more {fail}: pytest -k {slug}"
    return [reports[0] for reports in of.values()]


def _by_mistake(failed: Iterable[pytest.TestReport]) -> list[pytest.TestReport]:
    """The first failure by each mistake, with the titles of the other checks that fail by it."""
    of: dict[tuple[str, ...], list[pytest.TestReport]] = {}
    for report in failed:
        of.setdefault(_mistake(feedback_of(report)), []).append(report)
    for first, *others in of.values():
        if others:
            titles = list(dict.fromkeys(report.title for report in (first, *others)))[1:]
            first.longrepr = "\n".join([str(first.longrepr), *_also(len(others), titles)])
    return [reports[0] for reports in of.values()]


def _also(count: int, titles: Sequence[str]) -> list[str]:
    lines = [f"    {title}" for title in titles[:MOST_TITLES]]
    more = [f"    and {len(titles) - MOST_TITLES} more"] if len(titles) > MOST_TITLES else []
    return [
        f"  the same in {count} more {'check' if count == 1 else 'checks'}{':' if lines else ''}",
        *lines,
        *more,
    ]


def _mistake(told: Feedback) -> tuple[str, ...]:
    """What is wrong, where and by which likely cause; sizes and values differ with each check's inputs."""
    place = told.where.lines[:1] if told.where and told.where.line else []
    return (*(re.sub(r"\d+", "#", text) for text in (told.headline, told.likely)), *place)
