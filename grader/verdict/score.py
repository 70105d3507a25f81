"""From a transcript to a record: the score counts only the checks that are known to have passed."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from grader.core.sanitize import message, one_line
from grader.course.exercise import Exercise
from grader.course.policy import USUAL, Policy
from grader.protocol.check import CheckSpec, Outcome
from grader.protocol.feedback import Feedback
from grader.protocol.standing import Standing, status_of
from grader.protocol.transcript import Transcript
from grader.records.records import CheckRecord, ExerciseRecord
from grader.verdict.oracle_match import compared
from grader.verdict.shares import broken_rules, concerned, share

ORACLE, FINE, EXAMPLE = "oracle", "fine_oracle", "example_oracle"
ORACLE_TITLE = "On fresh inputs the answer agrees with the reference."


@dataclass(frozen=True)
class OracleResults:
    """What the oracles of the reference give, encoded, for the seed that an answer is judged with.

    `example` is what it gives for the worked example. `start` holds the checks and cases that pass in what
    students were given, by their ids.
    """

    oracle: Any = None
    fine: Any = None
    example: Any = None
    start: frozenset[str] = frozenset()


NOTHING = OracleResults()


def verdict(
    exercise: Exercise, expected: Sequence[CheckSpec], transcript: Transcript, wanted: OracleResults
) -> ExerciseRecord:
    """The record of one judged answer, scored as where a course says nothing else.

    Args:
        expected: every check of the exercise, as listed before any answer was seen.
        transcript: what came of judging it; all but how it ended may be forged.
    """
    if expected and all(spec.lacks for spec in expected):  # nor does the reference run here
        skipped = tuple(check_of(spec, transcript) for spec in expected)
        return ExerciseRecord("not_graded", 0.0, exercise.points, skipped)
    forged = transcript.forged
    if transcript.ended.lost:
        return unjudged(exercise, transcript.ended.lost)
    if wanted.oracle is None:
        return unjudged(exercise, "the reference solution has no oracle result")
    checks, cases, example = found = _found(expected, transcript, wanted)
    broken = broken_rules(expected, transcript)
    lost = concerned(broken, expected, [case.id for case in (*cases, *example)])
    job, most, fine = (
        0.0 if forged else round(done, 4)
        for done in (
            share(*found, fine=False, start=wanted.start, lost=lost),
            share(*found, fine=False, start=wanted.start),
            share(checks, cases, fine=True),
        )
    )
    status = Standing.of((check.fine, check.outcome) for check in checks).status_in(transcript, job, fine)
    return ExerciseRecord(
        "failed" if broken and status == "todo" else status,
        USUAL.score(exercise.points, job, fine),
        exercise.points,
        (*checks, *cases),
        flags_of(transcript),
        job,
        fine,
        round(most - job, 4),
    )


def _found(
    expected: Sequence[CheckSpec], transcript: Transcript, wanted: OracleResults
) -> tuple[list[CheckRecord], list[CheckRecord], list[CheckRecord]]:
    """The checks, a broken rule before all others; the oracles' cases; and those of the worked example."""
    broken = broken_rules(expected, transcript)
    checks = [check_of(spec, transcript) for spec in sorted(expected, key=lambda spec: spec not in broken)]
    cases = [*_cases(ORACLE, transcript, wanted.oracle), *_cases(FINE, transcript, wanted.fine)]
    return checks, cases, list(_cases(EXAMPLE, transcript, wanted.example))


def passing(expected: Sequence[CheckSpec], transcript: Transcript, wanted: OracleResults) -> frozenset[str]:
    """The ids of all checks and cases that pass."""
    found = chain(*_found(expected, transcript, wanted))
    return frozenset(check.id for check in found if check.outcome == "passed")


def scored(record: ExerciseRecord, policy: Policy) -> ExerciseRecord:
    """The record with what it earns in a course of this policy."""
    job = record.job if policy.rules == "gate" else round(record.job + record.against_rules, 4)
    status = record.status
    if record.against_rules and status in ("partial", "failed"):
        status = status_of(job)
    return replace(record, status=status, score=policy.score(record.points, job, record.fine))


def unjudged(exercise: Exercise, reason: str) -> ExerciseRecord:
    """The record of an answer that could not be judged by our fault."""
    return ExerciseRecord("grader_fault", 0.0, exercise.points, flags=(one_line(reason),))


def untouched(exercise: Exercise) -> ExerciseRecord:
    """The record of a stub that was handed in as it was, or not at all."""
    return ExerciseRecord("todo", 0.0, exercise.points)


def unreadable(exercise: Exercise, problem: str) -> ExerciseRecord:
    """The record of a file that could not be read: a person looks at it, and no zero is given unseen."""
    return ExerciseRecord("not_graded", 0.0, exercise.points, flags=(one_line(problem),))


def check_of(spec: CheckSpec, transcript: Transcript) -> CheckRecord:
    """The record of a check. A child may claim that it passed; all else that it may say is a failure."""
    found = transcript.of(spec)
    known = spec.lacks or found.outcome in ("passed", "missing")
    outcome = found.outcome if known else "failed"
    feedback = Feedback(f"still to write: {found.unwritten}") if found.unwritten else found.feedback
    text = message(feedback.text) if feedback else ""
    return CheckRecord(spec.id, spec.title, outcome, text, found.seconds, feedback, spec.fine)


def _cases(kind: str, transcript: Transcript, right: Any) -> Iterator[CheckRecord]:
    """A record for each case of an oracle, of which the reference gives `right`; None where there is none."""
    if right is None:
        return
    given = getattr(transcript, kind)
    error = transcript.oracle_error if kind == ORACLE else ""
    for name, found in compared(given, right).items():
        id, title = (f"{kind}::{name}", f"On fresh inputs: {name}.") if name else (kind, ORACLE_TITLE)
        told = found if given is not None else error
        outcome: Outcome = "failed" if told else "passed" if given is not None else "missing"
        yield CheckRecord(id, title, outcome, message(told), fine=kind == FINE)


def flags_of(transcript: Transcript) -> tuple[str, ...]:
    ended = transcript.ended
    if transcript.forged:
        return (transcript.forged,)
    if transcript.trouble:
        return (f"{transcript.trouble}, twice, after the answer was imported: read the answer",)
    if broken := transcript.broken:
        return (one_line(broken.facts[-1].text if broken.facts else broken.headline),)
    if ended.timed_out:
        return ("still running when its time was over: an endless loop?",)
    if ended.signal == signal.SIGKILL and transcript.cut_short:
        return ("ended by signal 9: it held too many processes, or the machine ran out of memory",)
    if ended.signal:
        return (f"ended by signal {ended.signal}",)
    if ended.exit:
        return (f"left with exit status {ended.exit}",)
    if transcript.cut_short:
        return ("left before it was judged to the end",)
    return ()
