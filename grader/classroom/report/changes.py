"""The page of the grading log, as plain data: run by run, whose score became what, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from grader.classroom.report.words import number
from grader.course.catalog import Catalog
from grader.protocol.statuses import STATUSES
from grader.records.log import Change, Grade, summary
from grader.records.records import StudentRecord

MOST_ROWS = 500
"""Changes that the page shows: the latest."""


@dataclass(frozen=True)
class ChangeRow:
    student: str
    link: str
    exercise: str
    before: str
    after: str
    why: str


@dataclass(frozen=True)
class Run:
    """What changed in one run of `kata grade`. First verdicts are only counted."""

    when: str
    summary: str
    rows: list[ChangeRow]


@dataclass(frozen=True)
class ChangesPage:
    runs: list[Run]
    left_out: int


def page(
    changes: Sequence[Change], records: Sequence[StudentRecord], catalog: Catalog, links: Mapping[str, str]
) -> ChangesPage | None:
    """The runs that concern these students' exercises, the last one first; None where there is none."""
    slugs = {slug for record in records for slug in record.exercises}
    told = slugs | {e.assignment for e in catalog.exercises if e.slug in slugs}
    own = [change for change in changes if change.student in links and change.exercise in told]
    runs = []
    left = MOST_ROWS
    for when, held in groupby(sorted(own, key=lambda c: c.when, reverse=True), key=lambda c: c.when):
        run = [*held]
        rows = [_row(change, links) for change in run if change.way != "first"]
        runs.append(Run(_shown(when), summary(run), rows[:left]))
        left -= len(runs[-1].rows)
    shown = sum(len(run.rows) for run in runs)
    return ChangesPage(runs, sum(c.way != "first" for c in own) - shown) if runs else None


def _row(change: Change, links: Mapping[str, str]) -> ChangeRow:
    before, after = (_words(one) for one in (change.before, change.after))
    return ChangeRow(
        change.student, links[change.student], change.exercise, before, after, ", ".join(change.why)
    )


def _words(grade: Grade | None) -> str:
    """`1.5 of 2: partly passed`, `late penalty: 2`; of what was not there, nothing."""
    if grade is None:
        return ""
    word = {str(status): words for status, (_, words, _) in STATUSES.items()}.get(grade.status, grade.status)
    if grade.score is None:
        return word
    if not grade.points:
        return f"{word}: {number(grade.score)}"
    return f"{number(grade.score)} of {number(grade.points)}: {word}"


def _shown(when: str) -> str:
    """`2026-11-20 12:00 UTC`; what is no time, as it stands."""
    day, _, time = when.partition("T")
    return f"{day} {time[:5]} UTC" if time.endswith("+00:00") else when
