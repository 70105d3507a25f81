"""What a learner is told about one exercise: a plain record made from the findings of its checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.course.catalog import Exercise
from grader.protocol.messages import Expected, Findings
from grader.records.progress import State


@dataclass(frozen=True)
class Failure:
    """A check that did not pass."""

    title: str
    message: str


@dataclass(frozen=True)
class Lesson:
    """How an answer fares. `trouble` is set where it could not be judged to the end.

    `unwritten` names the functions that say of themselves that they are still to write. `printed` is what the
    answer printed while it was imported and in the first failure, or where nothing fails, in the first check
    that saw it print. `is_start` is true of what nobody has touched.
    """

    exercise: Exercise
    state: State
    passed: tuple[str, ...]
    failures: tuple[Failure, ...]
    skipped: tuple[str, ...]
    trouble: str
    printed: str
    unwritten: tuple[str, ...] = ()
    is_start: bool = False

    @property
    def mark(self) -> State:
        """What the map shows: a start may fail, but it was not begun."""
        return "todo" if self.is_start else self.state

    @property
    def rest(self) -> str:
        """What is still to do in an answer of which a part is written; "" for any other."""
        if self.state != "todo" or not self.passed:
            return ""
        return (
            f"still to write: {', '.join(self.unwritten)}"
            if self.unwritten
            else "still to write: a part of it"
        )


def learn(
    exercise: Exercise, expected: Sequence[Expected], findings: Findings, *, is_start: bool = False
) -> Lesson:
    """The lesson in one answer's findings; a start that is to be built teaches nothing."""
    if is_start and exercise.kind == "build":
        return Lesson(exercise, "todo", (), (), (), "", "", is_start=True)
    lines = {str(line["check"]): line for line in findings.lines if "check" in line}
    here = [check for check in expected if check.lacks is None]
    passed = [c.title for c in here if lines.get(c.id, {}).get("outcome") == "passed"]
    failed = [c for c in here if lines.get(c.id, {}).get("outcome") in ("failed", "timeout")]
    failed.sort(key=lambda c: lines[c.id].get("rule") is not True)  # a broken rule before any wrong number
    failures = [Failure(c.title, str(lines[c.id].get("message", ""))) for c in failed]
    trouble = _trouble(exercise, findings)
    if trouble or failures:
        state: State = "failing"
    elif len(passed) == len(here) and here:
        state = "done"
    else:
        state = "todo"
    skipped = [f"{c.title} ({c.lacks})" for c in expected if c.lacks is not None]
    # A check that runs on several inputs must pass on all of them.
    lacking = {c.title for c in here if lines.get(c.id, {}).get("outcome") != "passed"}
    passed = [title for title in passed if title not in lacking]
    unwritten = [str(line["unwritten"]) for line in lines.values() if line.get("unwritten")]
    return Lesson(
        exercise,
        state,
        _once(passed),
        tuple(failures),
        _once(skipped),
        trouble,
        _printed(findings.lines, failed[0].id if failed else None),
        _once(unwritten),
        is_start,
    )


def _printed(lines: Sequence[dict[str, Any]], failed: str | None) -> str:
    imported = [line for line in lines if "check" not in line]
    shown = [line for line in lines if "check" in line and (line["check"] == failed or failed is None)]
    first = next((line for line in shown if line.get("printed")), {})
    return "".join(str(line.get("printed", "")) for line in [*imported, first])


def _trouble(exercise: Exercise, findings: Findings) -> str:
    for line in findings.lines:
        if "broken" in line:
            return str(line["broken"])
        if "tampered" in line:
            return f"your code {line['tampered']}, which the checks rely on: give it another name"
        if "stopped" in line:
            return ""  # the check that ran out of time says where
    if findings.fault:
        return f"the engine failed: {findings.fault}; save again, or restart `kata watch`"
    if findings.timed_out:
        return f"still running after {exercise.seconds:g} s: an endless loop, or something that waits?"
    if not any("done" in line for line in findings.lines):
        ended = f"signal {findings.signal}" if findings.signal else f"exit status {findings.exit}"
        return f"your code ended the process ({ended}) before it was judged: `exit`, `os._exit` or a crash?"
    return ""


def _once(titles: Sequence[str]) -> tuple[str, ...]:
    """Each sentence once: a check that runs on several inputs says the same each time."""
    return tuple(dict.fromkeys(titles))
