"""What a report of pytest carries of a check: which one it is, and what was found."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from grader.course.catalog import load
from grader.course.exercise import Exercise
from grader.protocol.check import Finding
from grader.protocol.feedback import Feedback


@dataclass(frozen=True)
class CheckReport:
    """A check of the exercise `slug`, and how it went, or one phase of it."""

    slug: str
    title: str
    fine: bool
    finding: Finding

    @property
    def failed(self) -> bool:
        return self.finding.outcome in ("failed", "timeout")

    @property
    def feedback(self) -> Feedback:
        return self.finding.feedback or Feedback("")

    def text(self, before: Exercise | None = None) -> str:
        """All that a learner reads of it; `before` is a step that the exercise builds on."""
        return "\n".join(self.feedback.lines_for(load().exercise(self.slug), self.title, before))

    def with_feedback(self, feedback: Feedback) -> "CheckReport":
        return replace(self, finding=replace(self.finding, feedback=feedback))


_ATTRIBUTE = "check"


def attach(report: pytest.TestReport, check: CheckReport) -> None:
    setattr(report, _ATTRIBUTE, check)


def check_of(report: pytest.TestReport) -> CheckReport | None:
    """What it carries; None where it is about no check of an exercise, or whoever ran it was lost."""
    return getattr(report, _ATTRIBUTE, None)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(
    report: pytest.CollectReport | pytest.TestReport,
) -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
    """As plain data, for another process."""
    data = yield
    if data and (check := data.get(_ATTRIBUTE)):
        data[_ATTRIBUTE] = {**vars(check), "finding": check.finding.to_json()}
    return data


@pytest.hookimpl(wrapper=True)
def pytest_report_from_serializable(data: dict[str, Any]) -> Generator[None, Any, Any]:
    sent = data.pop(_ATTRIBUTE, None)
    report = yield
    if sent:
        attach(report, CheckReport(**{**sent, "finding": Finding.from_json(sent["finding"])}))
    return report
