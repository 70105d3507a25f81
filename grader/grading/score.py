"""From a transcript to a record: the score counts only the checks that are known to have passed."""

import signal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.core.sanitize import message, one_line
from grader.course.exercise import Exercise
from grader.course.policy import USUAL, Policy
from grader.grading.oracle_match import compared
from grader.protocol.check import CheckSpec, Outcome
from grader.protocol.transcript import Transcript
from grader.records.records import CheckRecord, ExerciseRecord, Status

ORACLE, FINE = "oracle", "fine_oracle"
ORACLE_TITLE = "On fresh inputs the answer agrees with the reference."


@dataclass(frozen=True)
class Wanted:
    """What the oracles of the reference give, encoded, for the seed that an answer is judged with."""

    oracle: Any = None
    fine: Any = None


NOTHING = Wanted()


def verdict(
    exercise: Exercise, expected: Sequence[CheckSpec], transcript: Transcript, wanted: Wanted
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
    if transcript.fault and not forged:  # ours, as far as can be told; an answer may bring it about
        return unjudged(exercise, f"{transcript.fault}, after the answer was imported: read the answer")
    if wanted.oracle is None:
        return unjudged(exercise, "the reference solution has no oracle result")
    checks = [check_of(spec, transcript) for spec in expected]
    cases = list(_cases(transcript, wanted))
    job, fine = (0.0, 0.0) if forged else (_share(checks, cases, fine=of) for of in (False, True))
    status = status_of(transcript, checks, job, fine)
    score = USUAL.score(exercise.points, job, fine)
    return ExerciseRecord(
        status, score, exercise.points, (*checks, *cases), flags_of(transcript), round(job, 4), round(fine, 4)
    )


def scored(record: ExerciseRecord, policy: Policy) -> ExerciseRecord:
    """The record with what it earns in a course of this policy."""
    return replace(record, score=policy.score(record.points, record.job, record.fine))


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
    text = message(found.feedback.text) if found.feedback else ""
    return CheckRecord(spec.id, spec.title, outcome, text, found.seconds, found.feedback, spec.fine)


def _cases(transcript: Transcript, wanted: Wanted) -> Iterator[CheckRecord]:
    """A record for each case of the oracle, and of the fine oracle where there is one."""
    both = ((ORACLE, transcript.oracle, wanted.oracle), (FINE, transcript.fine_oracle, wanted.fine))
    for kind, given, right in both:
        error = transcript.oracle_error if kind == ORACLE else ""
        for name, found in compared(given, right).items() if right is not None else ():
            id, title = (f"{kind}::{name}", f"On fresh inputs: {name}.") if name else (kind, ORACLE_TITLE)
            told = found if given is not None else error
            outcome: Outcome = "failed" if told else "passed" if given is not None else "missing"
            yield CheckRecord(id, title, outcome, message(told), fine=kind == FINE)


def _share(checks: Iterable[CheckRecord], cases: Iterable[CheckRecord], *, fine: bool) -> float:
    """The share of the checks that passed, or of the oracle's cases that agree, if that is less."""
    shares = []
    for kind in (checks, cases):
        judged = [check for check in kind if check.fine == fine and check.outcome != "not_graded"]
        shares.append(sum(c.outcome == "passed" for c in judged) / len(judged) if judged else 1.0)
    return min(shares)


def status_of(transcript: Transcript, checks: Sequence[CheckRecord], job: float, fine: float) -> Status:
    """What becomes of an answer; who does the job does it, whatever the fine print makes of the answer."""
    if transcript.forged:
        return "tampered"
    if all(c.outcome == "not_graded" for c in checks):
        return "not_graded"
    if job == 1.0:
        return "passed" if fine == 1.0 else "works"
    if transcript.memory:
        return "memory"
    if transcript.ended.timed_out or transcript.last_word == "stopped":
        return "timeout"
    if transcript.last_word == "broken":
        return "broken"
    if not transcript.last_word:
        return "crashed"
    if any(found.outcome == "todo" for found in transcript.checks.values()) and job == 0.0:
        return "todo"
    return "partial" if job > 0.0 else "failed"


def flags_of(transcript: Transcript) -> tuple[str, ...]:
    ended = transcript.ended
    if transcript.forged:
        return (transcript.forged,)
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
