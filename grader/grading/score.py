"""From findings to a record: the score counts only the checks that are known to have passed."""

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from grader.core.sanitize import message, one_line
from grader.course.catalog import Exercise
from grader.grading.oracle_match import disagreement
from grader.protocol.messages import GARBLED, MOST_LINES, Expected, Findings
from grader.records.records import CheckRecord, ExerciseRecord, Outcome, Status

ORACLE = "oracle"
ORACLE_TITLE = "On fresh inputs the answer agrees with the reference."
_OUTCOMES: dict[str, Outcome] = {"passed": "passed"}
"""What a child may claim; anything else, todo and timeout among it, is a failure."""

_TAMPERED = re.compile(
    r"replaces [\w.]{1,120}|hooks into Python by [\w.]{1,40}|breaks comparisons \(\w{1,60}\)"
    r"|makes (torch\.\w{1,20}|== of tensors) lie|makes a (check|comparison) pass that must fail",
    re.ASCII,
)
"""What `grader.engine.integrity` tells; other words are the answer's own, and no flag."""

MOST_SECONDS = 1e6
"""Longer than any check takes."""


def verdict(
    exercise: Exercise, expected: Sequence[Expected], findings: Findings, wanted_oracle: Any
) -> ExerciseRecord:
    """The record of one judged answer.

    Args:
        expected: every check of the exercise, as listed before any answer was seen.
        findings: what the child wrote, which may be forged, and how it ended, which is not.
        wanted_oracle: the encoded oracle of the reference, for the same seed.
    """
    if expected and all(check.lacks for check in expected):  # nor does the reference run here
        skipped = tuple(_check(check, findings) for check in expected)
        return ExerciseRecord("not_graded", 0.0, exercise.points, skipped)
    if len(findings.lines) > MOST_LINES:
        findings = replace(findings, lines=(*findings.lines[:MOST_LINES], GARBLED))
    forged = _forgery(findings)
    if findings.lost:
        return unjudged(exercise, findings.lost)
    if findings.fault and not forged:  # ours, as far as can be told; an answer may bring it about
        return unjudged(exercise, f"{findings.fault}, after the answer was imported: read the answer")
    if wanted_oracle is None:
        return unjudged(exercise, "the reference solution has no oracle result")
    checks = [_check(e, findings) for e in expected]
    checks.append(_oracle(findings, wanted_oracle))
    score = 0.0 if forged else _score(exercise, checks)
    status = _status(exercise, findings, checks, score, forged)
    return ExerciseRecord(status, score, exercise.points, tuple(checks), _flags(findings, forged))


def unjudged(exercise: Exercise, reason: str) -> ExerciseRecord:
    """The record of an answer that could not be judged by our fault."""
    return ExerciseRecord("grader_fault", 0.0, exercise.points, flags=(one_line(reason),))


def untouched(exercise: Exercise) -> ExerciseRecord:
    """The record of a stub that was handed in as it was, or not at all."""
    return ExerciseRecord("todo", 0.0, exercise.points)


def unreadable(exercise: Exercise, problem: str) -> ExerciseRecord:
    """The record of a file that could not be read as an answer."""
    return ExerciseRecord("broken", 0.0, exercise.points, flags=(one_line(problem),))


def _forgery(findings: Findings) -> str:
    """Why the findings cannot be what an honest child writes, or an empty text."""
    for line in findings.lines:
        if isinstance(line.get("tampered"), str):
            known = _TAMPERED.fullmatch(line["tampered"])
            return known[0] if known else "changes what judging relies on"
    if any("trouble" in line for line in findings.lines[:-1]):
        return "claims that the grader failed"  # which would be the last word
    if findings.overflow:
        return "wrote more results than judging does"
    if any("garbled" in line for line in findings.lines):
        return "wrote to the channel that carries results"
    ids = [_text(line, "check") for line in findings.lines if "check" in line]
    if len(ids) != len(set(ids)) or sum("oracle" in line for line in findings.lines) > 1:
        return "results arrived twice"
    return ""


def _check(expected: Expected, findings: Findings) -> CheckRecord:
    if expected.lacks:
        return CheckRecord(expected.id, expected.title, "not_graded", expected.lacks)
    line = next((x for x in findings.lines if x.get("check") == expected.id), None)
    if line is None:
        return CheckRecord(expected.id, expected.title, "missing", _message(findings.lines))
    outcome = _OUTCOMES.get(_text(line, "outcome"), "failed")
    return CheckRecord(expected.id, expected.title, outcome, message(_text(line, "message")), _seconds(line))


def _text(line: Mapping[str, Any], name: str) -> str:
    """A text in a child's line; "" for anything else, which may be too deep or too long to be made a text."""
    value = line.get(name)
    return value if isinstance(value, str) else ""


def _seconds(line: Mapping[str, Any]) -> float:
    """How long a check took, by its line; 0 where that is no time: JSON knows NaN and endless integers."""
    value = line.get("seconds")
    return float(value) if isinstance(value, (int, float)) and 0 <= value < MOST_SECONDS else 0.0


def _message(lines: Sequence[dict[str, Any]]) -> str:
    return next((message(_text(line, "broken")) for line in lines if "broken" in line), "")


def _oracle(findings: Findings, wanted: Any) -> CheckRecord:
    line = next((x for x in findings.lines if "oracle" in x or "oracle_error" in x), None)
    if line is None:
        return CheckRecord(ORACLE, ORACLE_TITLE, "missing")
    if "oracle" not in line:
        return CheckRecord(ORACLE, ORACLE_TITLE, "failed", message(_text(line, "oracle_error")))
    found = disagreement(line["oracle"], wanted)
    return CheckRecord(ORACLE, ORACLE_TITLE, "failed" if found else "passed", message(found or ""))


def _score(exercise: Exercise, checks: Sequence[CheckRecord]) -> float:
    judged = [c for c in checks if c.outcome != "not_graded"]
    gates = [c for c in judged if not c.id.startswith("hidden::")]
    hidden = [c for c in judged if c.id.startswith("hidden::")]
    if not hidden or any(c.outcome != "passed" for c in gates):
        return 0.0
    return round(exercise.points * sum(c.outcome == "passed" for c in hidden) / len(hidden), 4)


def _status(
    exercise: Exercise, findings: Findings, checks: Sequence[CheckRecord], score: float, forged: str
) -> Status:
    lines = findings.lines
    if forged:
        return "tampered"
    if any(line.get("memory") for line in lines):
        return "memory"
    if findings.timed_out or any(line.get("stopped") == "timeout" for line in lines):
        return "timeout"
    if any("broken" in line for line in lines):
        return "broken"
    if not any("done" in line for line in lines):
        return "crashed"
    if any(line.get("outcome") == "todo" for line in lines) and score == 0.0:
        return "todo"
    if all(c.outcome == "not_graded" for c in checks if c.id != ORACLE):
        return "not_graded"
    if score == exercise.points:
        return "passed"
    return "partial" if score > 0.0 else "failed"


def _flags(findings: Findings, forged: str) -> tuple[str, ...]:
    if forged:
        return (forged,)
    broken = _message(findings.lines)
    if broken:
        return (one_line(broken.splitlines()[-1]),)
    if findings.signal == signal.SIGKILL and findings.cut_short:
        return ("ended by signal 9: it held too many processes, or the machine ran out of memory",)
    if findings.signal:
        return (f"ended by signal {findings.signal}",)
    if findings.exit:
        return (f"left with exit status {findings.exit}",)
    if findings.cut_short:
        return ("left before it was judged to the end",)
    return ()
