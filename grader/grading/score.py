"""From a transcript to a record: the score counts only the checks that are known to have passed."""

import signal
from collections.abc import Sequence
from typing import Any

from grader.core.sanitize import message, one_line
from grader.course.catalog import Exercise
from grader.grading.oracle_match import disagreement
from grader.protocol.check import CheckSpec
from grader.protocol.transcript import Transcript
from grader.records.records import CheckRecord, ExerciseRecord, Status

ORACLE = "oracle"
ORACLE_TITLE = "On fresh inputs the answer agrees with the reference."


def verdict(
    exercise: Exercise, expected: Sequence[CheckSpec], transcript: Transcript, wanted_oracle: Any
) -> ExerciseRecord:
    """The record of one judged answer.

    Args:
        expected: every check of the exercise, as listed before any answer was seen.
        transcript: what came of judging it; all but how it ended may be forged.
        wanted_oracle: the encoded oracle of the reference, for the same seed.
    """
    if expected and all(spec.lacks for spec in expected):  # nor does the reference run here
        skipped = tuple(_check(spec, transcript) for spec in expected)
        return ExerciseRecord("not_graded", 0.0, exercise.points, skipped)
    forged = transcript.forged
    if transcript.ended.lost:
        return unjudged(exercise, transcript.ended.lost)
    if transcript.fault and not forged:  # ours, as far as can be told; an answer may bring it about
        return unjudged(exercise, f"{transcript.fault}, after the answer was imported: read the answer")
    if wanted_oracle is None:
        return unjudged(exercise, "the reference solution has no oracle result")
    checks = [_check(spec, transcript) for spec in expected]
    checks.append(_oracle(transcript, wanted_oracle))
    score = 0.0 if forged else _score(exercise, checks)
    status = _status(exercise, transcript, checks, score)
    return ExerciseRecord(status, score, exercise.points, tuple(checks), _flags(transcript))


def unjudged(exercise: Exercise, reason: str) -> ExerciseRecord:
    """The record of an answer that could not be judged by our fault."""
    return ExerciseRecord("grader_fault", 0.0, exercise.points, flags=(one_line(reason),))


def untouched(exercise: Exercise) -> ExerciseRecord:
    """The record of a stub that was handed in as it was, or not at all."""
    return ExerciseRecord("todo", 0.0, exercise.points)


def unreadable(exercise: Exercise, problem: str) -> ExerciseRecord:
    """The record of a file that could not be read as an answer."""
    return ExerciseRecord("broken", 0.0, exercise.points, flags=(one_line(problem),))


def _check(spec: CheckSpec, transcript: Transcript) -> CheckRecord:
    """The record of a check. A child may claim that it passed; all else that it may say is a failure."""
    found = transcript.of(spec)
    known = spec.lacks or found.outcome in ("passed", "missing")
    outcome = found.outcome if known else "failed"
    text = message(found.feedback.text) if found.feedback else ""
    return CheckRecord(spec.id, spec.title, outcome, text, found.seconds, found.feedback)


def _oracle(transcript: Transcript, wanted: Any) -> CheckRecord:
    if transcript.oracle_error:
        return CheckRecord(ORACLE, ORACLE_TITLE, "failed", message(transcript.oracle_error))
    if transcript.oracle is None:
        return CheckRecord(ORACLE, ORACLE_TITLE, "missing")
    found = disagreement(transcript.oracle, wanted)
    return CheckRecord(ORACLE, ORACLE_TITLE, "failed" if found else "passed", message(found or ""))


def _score(exercise: Exercise, checks: Sequence[CheckRecord]) -> float:
    judged = [c for c in checks if c.outcome != "not_graded"]
    gates = [c for c in judged if not c.id.startswith("hidden::")]
    hidden = [c for c in judged if c.id.startswith("hidden::")]
    if not hidden or any(c.outcome != "passed" for c in gates):
        return 0.0
    return round(exercise.points * sum(c.outcome == "passed" for c in hidden) / len(hidden), 4)


def _status(
    exercise: Exercise, transcript: Transcript, checks: Sequence[CheckRecord], score: float
) -> Status:
    if transcript.forged:
        return "tampered"
    if transcript.memory:
        return "memory"
    if transcript.ended.timed_out or transcript.last_word == "stopped":
        return "timeout"
    if transcript.last_word == "broken":
        return "broken"
    if not transcript.last_word:
        return "crashed"
    if any(found.outcome == "todo" for found in transcript.checks.values()) and score == 0.0:
        return "todo"
    if all(c.outcome == "not_graded" for c in checks if c.id != ORACLE):
        return "not_graded"
    if score == exercise.points:
        return "passed"
    return "partial" if score > 0.0 else "failed"


def _flags(transcript: Transcript) -> tuple[str, ...]:
    ended = transcript.ended
    if transcript.forged:
        return (transcript.forged,)
    if broken := transcript.broken:
        return (one_line(broken.facts[-1].text if broken.facts else broken.headline),)
    if ended.signal == signal.SIGKILL and transcript.cut_short:
        return ("ended by signal 9: it held too many processes, or the machine ran out of memory",)
    if ended.signal:
        return (f"ended by signal {ended.signal}",)
    if ended.exit:
        return (f"left with exit status {ended.exit}",)
    if transcript.cut_short:
        return ("left before it was judged to the end",)
    return ()
