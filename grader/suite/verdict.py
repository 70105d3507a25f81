"""From a transcript to a record: points for the tests that are known to have passed, and for no others."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from grader.course.exercise import Exercise
from grader.grading.score import check_of, flags_of, status_of, unjudged
from grader.protocol.transcript import Transcript
from grader.records.records import CheckRecord, ExerciseRecord
from grader.suite.inventory import TestFile


def verdict(exercise: Exercise, file: TestFile, transcript: Transcript) -> ExerciseRecord:
    """The record of one file of tests, as it is kept: `weighed` says what it earns."""
    if transcript.ended.lost:
        return unjudged(exercise, transcript.ended.lost)
    if transcript.fault and not transcript.forged:
        return unjudged(exercise, f"{transcript.fault}, after the tests had begun: read the submission")
    checks = tuple(_once(check_of(spec, transcript) for spec in file.checks))
    share = 0.0 if transcript.forged else _share(checks)
    return ExerciseRecord(
        status_of(transcript, checks, share, 1.0), 0.0, 0.0, checks, flags_of(transcript), share, 1.0
    )


def weighed(record: ExerciseRecord, file: TestFile) -> ExerciseRecord:
    """The record with the points of its tests as they are worth now."""
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


def _titled(check: CheckRecord, file: TestFile, worth: float) -> str:
    """The test's title, and what all of that title are worth, where tests of the file differ in that."""
    if check.outcome == "not_graded" or len({file.points[c.id] for c in file.checks if not c.lacks}) == 1:
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
