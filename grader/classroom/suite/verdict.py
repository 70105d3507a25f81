"""From a transcript to a record: points for the tests that are known to have passed, and for no others."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from grader.classroom.suite.inventory import TestFile
from grader.course.exercise import Exercise
from grader.protocol.standing import Standing, status_of
from grader.protocol.statuses import SCORED
from grader.protocol.transcript import Transcript
from grader.records.records import CheckRecord, ExerciseRecord
from grader.verdict.score import check_of, flags_of, unjudged


def verdict(exercise: Exercise, file: TestFile, transcript: Transcript) -> ExerciseRecord:
    """The record of one file of tests, as it is kept: `weighed` says what it earns."""
    if transcript.ended.lost:
        return unjudged(exercise, transcript.ended.lost)
    checks = tuple(_once(check_of(spec, transcript) for spec in file.checks))
    share = 0.0 if transcript.forged else _share(checks)
    status = Standing.of((False, check.outcome) for check in checks).status_in(transcript, share, 1.0)
    return ExerciseRecord(status, 0.0, 0.0, checks, flags_of(transcript), share, 1.0)


def weighed(record: ExerciseRecord, file: TestFile) -> ExerciseRecord:
    """The record with the points of its tests as they are worth now, without those that nobody can pass."""
    record = _excused(record, file)
    worth: dict[str, float] = defaultdict(float)
    for check in record.checks:
        worth[check.title] += file.points[check.id]
    checks = tuple(replace(check, title=_titled(check, file, worth[check.title])) for check in record.checks)
    record = replace(record, points=file.worth, checks=checks)
    if record.status == "tampered":
        return record
    earned = sum(file.points[check.id] for check in record.checks if check.outcome == "passed")
    share = earned / file.worth if file.worth else record.job
    return replace(record, score=round(earned, 4), job=round(share, 4))


def _excused(record: ExerciseRecord, file: TestFile) -> ExerciseRecord:
    """The record where the tests are at fault for which `file` says so."""
    if not file.faults or not record.checks or record.status == "tampered":
        return record
    told = {check.id: file.faults.get(check.id, "") for check in record.checks}
    checks = tuple(
        replace(check, outcome="not_graded", message=told[check.id], feedback=None)
        if told[check.id]
        else check
        for check in record.checks
    )
    if all(check.outcome == "not_graded" for check in checks):
        flags = tuple(dict.fromkeys(told[check.id] for check in checks if told[check.id]))
        return replace(record, status="grader_fault", checks=checks, flags=flags)
    share = _share(checks)
    of_tests = record.status in SCORED or share == 1.0
    return replace(record, status=status_of(share) if of_tests else record.status, checks=checks)


def _titled(check: CheckRecord, file: TestFile, worth: float) -> str:
    """The test's title, and what all of that title are worth, where tests of the file differ in that."""
    if (
        check.outcome == "not_graded"
        or len({file.points[c.id] for c in file.checks if not file.why_not(c)}) == 1
    ):
        return check.title
    return f"{check.title} ({round(worth, 2):g} point{'s' if worth != 1 else ''})"


def _share(checks: tuple[CheckRecord, ...]) -> float:
    judged = [check for check in checks if check.outcome != "not_graded"]
    return sum(check.outcome == "passed" for check in judged) / len(judged) if judged else 0.0


def _once(checks: Iterable[CheckRecord]) -> Iterator[CheckRecord]:
    """The checks, of which only the first that did not run says why."""
    said = False
    for check in checks:
        silent = said and check.outcome == "missing"
        said = said or check.outcome == "missing"
        yield replace(check, message="", feedback=None) if silent else check
